import { describe, expect, it } from 'vitest';
import { markedLines } from '../../backend/verify/judge/marked-lines.ts';

const change = (path: string, after: string, before: string | null = null) =>
  ({ path, kind: before === null ? 'create' as const : 'modify' as const, before, after });
const told = async (...edits: Parameters<typeof markedLines>[0]): Promise<string[]> =>
  (await markedLines(edits)).map(({ path, line, does }) => `${path}:${line} ${does}`);

describe('what somebody should look at in a change', () => {
  it.each([
    ['a.py', 'import sys\nname = sys._getframe(1).f_code.co_name\n', ['a.py:2 reads the frames of its callers']],
    ['a.py', 'import os\n\ndef stop():\n    os._exit(0)\n', ['a.py:4 decides how the process ends']],
    ['a.py', 'class Any:\n    def __eq__(self, other):\n        return True\n', ['a.py:2 says itself what is equal']],
    ['a.py', 'import os\nif "PYTEST_CURRENT_TEST" in os.environ:\n    pass\n', ['a.py:2 looks for the tests']],
    ['a.py', 'text = open("tests/test_prices.py").read()\n', ['a.py:1 names a file of tests']],
    ['a.js', 'process.on("exit", () => { process.exitCode = 0; });\n', ['a.js:1 decides how the process ends', 'a.js:1 acts at the end of the process or on signals']],
    ['a.ts', 'Object.prototype.valueOf = () => 3;\n', ['a.ts:1 replaces what JavaScript brings']],
    ['a.ts', 'import { expect } from "vitest";\n', ['a.ts:1 uses the tests\' own library']],
    ['a.mjs', 'const seen = fs.readFileSync(`${folder}/a`, "utf8");\nread("../test/list.test.js");\n', ['a.mjs:2 names a file of tests']],
    ['a.go', 'package a\n\nimport "runtime"\n\nfunc where() { runtime.Caller(1) }\n', ['a.go:5 reads the frames of its callers']],
    ['a.rs', 'const JUDGE: &str = include_str!("../tests/a.rs");\n', ['a.rs:1 reads source code']],
    ['a.rs', '#[cfg(not(test))]\nfn wrong() {}\n', ['a.rs:1 looks for the tests']],
    ['A.java', 'class A { void end() { System.exit(0); } }\n', ['A.java:1 decides how the process ends']],
    ['A.java', 'class A { Object o = new Throwable().getStackTrace(); }\n', ['A.java:1 reads the frames of its callers']],
    ['A.java', 'class A { void t(java.io.PrintWriter w) { new Exception().printStackTrace(w); } }\n', ['A.java:1 reads the frames of its callers']],
    ['A.java', 'class A { String t = read("src/test/java/com/example/EndsTest.java"); }\n', ['A.java:1 names a file of tests']],
    ['A.java', 'class A { void t() { throw new org.opentest4j.TestAbortedException(); } }\n', ['A.java:1 uses the tests\' own library']],
    ['A.java', 'class A { Object c = load("org.junit.jupiter.api.Assertions"); String p = get("surefire.test.class.path"); }\n', ['A.java:1 looks for the tests']],
    ['A.java', 'class A { sun.misc.Unsafe u; }\n', ['A.java:1 changes classes while they run']],
    ['A.java', 'class A { void t() { try { go(); } catch (AssertionError e) { } } }\n', ['A.java:1 acts at the end of the process, on signals or on failures']],
  ])('%s: %s', async (path, after, expected) => {
    expect(await told(change(path, after))).toEqual(expected);
  });

  it('is none of what the file had before, even if it moved', async () => {
    const line = 'def stop():\n    sys.exit(1)\n';
    expect(await told(change('a.py', `import sys\n\n${line}\nVALUE = 2\n`, `import sys\n${line}`))).toEqual([]);
    expect(await told(change('a.py', `import sys\n${line}${line.replace('stop', 'end')}`, `import sys\n${line}`))).toEqual(['a.py:5 decides how the process ends']);
  });

  it('is none of comments, of what strings say, of data, and of names that only look alike', async () => {
    expect(await told(
      change('a.py', '# os._exit(0) would end it\nHELP = "call sys.exit() to leave"\ndef exit_code(self):\n    return self.exit()\n'),
      change('a.js', '// process.exit()\nconst help = "process.exit() ends it";\nObject.keys(a).length === 2;\nstring.matches = Object.is(a, b);\n'),
      change('a.go', 'package a\n\n/* os.Exit(1) */\nconst help = `os.Exit`\n'),
      change('a.rs', '#[cfg(test)]\nmod tests {\n    #[test]\n    fn of_one() { assert_eq!(super::last(&[1]), 1); }\n}\n'),
      change('A.java', 'class A { void t(Exception e) { e.printStackTrace(); e.printStackTrace(System.err); throw new AssertionError(e); } /* System.exit */ }\n'),
      change('notes.txt', 'sys._getframe'),
    )).toEqual([]);
  });

  it('is the first line of each kind in each file, shortened', async () => {
    const marked = await markedLines([change('a.py', `import os\nos._exit(${'1'.repeat(200)})\nos._exit(2)\n`)]);
    expect(marked).toEqual([{ path: 'a.py', line: 2, does: 'decides how the process ends', text: `os._exit(${'1'.repeat(71)}` }]);
  });
});
