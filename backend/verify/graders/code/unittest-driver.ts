/**
 * Runs the tests of a `unittest.TestCase` class on a program. Both are in one module, as in BigCodeBench
 * (`bigcodebench/eval/__init__.py`). Standard input is a JSON object with `program`, `test`, `className`, `key` and `isControl`. The report
 * is written to standard output as JSON with the key, which only this run knows.
 *
 * Program and tests share a process, so the program can access everything here. These measures detect tricks: functions of unittest are
 * compared with their original state, assertions that must fail are tried after each test, values that equal a fresh object are failures,
 * and in a control run every test is made to fail and must be reported as failed.
 */
export const UNITTEST_DRIVER = String.raw`
import ast, builtins, json, os, sys, types, unittest

request = json.loads(sys.stdin.read())
report = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
sys.argv = ["program.py"]

def is_liar(value, depth=0):
    if type(value).__module__ == "unittest.mock":
        return False
    if depth < 3 and isinstance(value, (list, tuple, set, frozenset)) and len(value) <= 1000:
        return any(is_liar(item, depth + 1) for item in value)
    if depth < 3 and isinstance(value, dict) and len(value) <= 1000:
        return any(is_liar(item, depth + 1) for item in value.values())
    stranger = object()
    try:
        return (value == stranger) is True or (stranger == value) is True
    except Exception:
        return False

def honest(value, is_liar=is_liar):
    if is_liar(value):
        raise AssertionError("a value claims to equal everything")
    return value

class Checked(ast.NodeTransformer):
    def wrap(self, node):
        if isinstance(node, (ast.Starred, ast.Constant)):
            return node
        return ast.Call(ast.Name("__honest__", ast.Load()), [node], [])

    def visit_Compare(self, node):
        self.generic_visit(node)
        if any(isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops):
            node.left = self.wrap(node.left)
            node.comparators = [self.wrap(one) for one in node.comparators]
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert"):
            node.args = [self.wrap(one) for one in node.args]
        return node

class Failing(ast.NodeTransformer):
    def visit_FunctionDef(self, node):
        if node.name.startswith("test"):
            raising = ast.parse("raise AssertionError('control')").body
            node.body = [ast.Try(body=node.body, handlers=[], orelse=[], finalbody=raising)]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

tree = ast.parse(request["test"])
tree = Checked().visit(tree)
if request["isControl"]:
    tree = Failing().visit(tree)
ast.fix_missing_locations(tree)

WATCHED = [unittest.TestCase, unittest.TestSuite, unittest.TestLoader, unittest.TestResult, unittest.case._Outcome]
NAMES = ["AssertionError", "isinstance", "issubclass", "len", "all", "any", "sorted", "sum", "min", "max", "abs", "round",
    "getattr", "hasattr", "type", "repr", "compile", "exec"]

def state():
    found = [(one.__qualname__ + "." + name, value) for one in WATCHED for name, value in vars(one).items()
        if callable(value) or isinstance(value, (staticmethod, classmethod))]
    return found + [("builtins." + name, getattr(builtins, name)) for name in NAMES]

BEFORE = {name: value for name, value in state()}

def changed():
    now = dict(state())
    return [name for name in BEFORE if now.get(name) is not BEFORE[name]]

MUST_FAIL = [
    lambda case: case.assertEqual(1, 2), lambda case: case.assertTrue(False), lambda case: case.assertFalse(True),
    lambda case: case.assertIn(1, []), lambda case: case.assertIsNone(1), lambda case: case.assertAlmostEqual(1, 2),
    lambda case: case.assertListEqual([1], [2]), lambda case: case.assertDictEqual({1: 1}, {1: 2}),
    lambda case: case.assertIsInstance(1, str), lambda case: case.assertGreater(1, 2), lambda case: case.fail(),
]

def swallows(case):
    for assertion in MUST_FAIL:
        try:
            assertion(case)
        except AssertionError:
            continue
        return True
    return False

class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.found = {}
        self.tricks = []

    def note(self, test, status):
        name = test.id().split(".")[-1]
        if self.found.get(name, "passed") == "passed":
            self.found[name] = status

    def addSuccess(self, test):
        self.note(test, "passed")

    def addError(self, test, problem):
        self.note(test, "failed")

    def addFailure(self, test, problem):
        self.note(test, "failed")

    def addSkip(self, test, reason):
        self.note(test, "skipped")

    def addExpectedFailure(self, test, problem):
        self.note(test, "failed")

    def addUnexpectedSuccess(self, test):
        self.note(test, "failed")

    def addSubTest(self, test, subtest, problem):
        if problem is not None:
            self.note(test, "failed")

    def stopTest(self, test):
        self.tricks += changed()
        if isinstance(test, unittest.TestCase) and swallows(test):
            self.tricks.append("assertions that must fail did not")

module = types.ModuleType("__test__")
module.__dict__.update({"__builtins__": builtins, "__file__": "__test__.py", "sys": sys, "os": os, "environ": os.environ})
exec(compile(request["program"], "program.py", "exec"), module.__dict__)
sys.modules["__test__"] = module
early = changed()
module.__dict__["__honest__"] = honest
exec(compile(tree, "__test__.py", "exec"), module.__dict__)
result = Result()
result.tricks += early
suite = unittest.TestLoader().loadTestsFromTestCase(getattr(module, request["className"]))
suite.run(result)
json.dump({"key": request["key"], "tests": result.found, "tricks": sorted(set(result.tricks))[:20]}, report)
report.flush()
os._exit(0)
`;

/** Writes which of the modules named on its input are missing, one per line. It runs without a program of an answer. */
export const MISSING_MODULES_DRIVER = String.raw`
import importlib.util, sys
for name in sys.stdin.read().split():
    if importlib.util.find_spec(name) is None:
        print(name)
`;
