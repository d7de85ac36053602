import { describe, expect, it } from 'vitest';
import { JudgingFiles, KnownJudgingFiles } from '../../../backend/verify/closure/judging-files.ts';
import { protectedReason } from '../../../backend/verify/files/protected-paths.ts';
import { RUNNERS } from '../../../backend/verify/runners/runners.ts';

type Texts = Readonly<Record<string, string>>;

/** Why a change of the file is refused; undefined if it is judged. */
async function why(texts: Texts, command: string, path: string): Promise<string | undefined> {
  const files = { paths: new Set(Object.keys(texts)), text: (file: string) => texts[file] };
  const configuration = RUNNERS.find(({ understands }) => understands(command))?.configuration ?? [];
  const before = texts[path] ?? null;
  return protectedReason(path, configuration) ?? (await new JudgingFiles(files, { command, configuration }, '/nonexistent').whyItJudges({ path, before }));
}

const JS = {
  'package.json': '{"name":"shop","type":"module"}',
  'src/total.js': 'import { round } from "./round.js";\nexport const total = (list) => round(list.length);\n',
  'src/round.js': 'export const round = (x) => x;\n',
  'src/testing/check.js': 'export { same } from "./same.js";\nexport const check = (a, b) => { if (a !== b) throw new Error("no"); };\n',
  'src/testing/same.js': 'export const same = (a, b) => a === b;\n',
  'src/kind.js': 'export const kind = (a, b) => { if (a !== b) throw new Error("no"); };\n',
  'src/shared.js': 'export const shared = 1;\n',
  'src/page.js': 'import { shared } from "./shared.js";\nimport en from "./locales/en.json";\n',
  'src/locales/en.json': '{}',
  'expected/total.json': '{"total": 3}',
  'build/plugin.js': 'import { rewrite } from "./rewrite.js";\nexport default () => rewrite;\n',
  'build/rewrite.js': 'export const rewrite = (text) => text;\n',
  'build/setup.ts': 'globalThis.ready = true;\n',
  'scripts/register.js': 'require("./hooks.cjs");\n',
  'scripts/hooks.cjs': 'module.exports = 1;\n',
  'vitest.config.ts': 'import plugin from "./build/plugin.js";\nexport default { plugins: [plugin()], test: { setupFiles: ["./build/setup.ts"] } };\n',
  'rollup.config.js': 'import plugin from "./build/plugin.js";\nexport default { input: "src/page.js" };\n',
  'test/shop.test.js': [
    'import { total } from "../src/total.js";', 'import { check } from "../src/testing/check.js";', 'import { shared } from "../src/shared.js";',
    'import { kind } from "../src/kind.js";', 'import en from "../src/locales/en.json";',
    'const expected = JSON.parse(readFileSync(new URL("../expected/total.json", import.meta.url)));',
    'it("a", () => {', '  check(total([1]), 1);', '  kind(total([1, 2]), 2);', '});',
  ].join('\n'),
} satisfies Texts;

describe('by make', () => {
  const texts = {
    'Makefile': 'PROGRAM := tool\nall: build\n\nbuild:\n\tcc -o tool src/tool.c\n\ntest check: build\n\t@sh scripts/ci.sh && ./run-checks --all\n\ndeploy:\n\tsh scripts/deploy.sh\n',
    'scripts/ci.sh': '. ./scripts/lib.sh\n./tool.sh --self-test\n', 'scripts/lib.sh': 'true\n', 'scripts/deploy.sh': 'true\n',
    'run-checks': '#!/bin/sh\n', 'tool.sh': 'true\n', 'src/tool.c': 'int main(void) { return 0; }\n',
  } satisfies Texts;
  it.each([
    ['a script of the recipe', 'make test', 'scripts/ci.sh', /Makefile loads it/],
    ['a program of the recipe', 'CI=1 make -s test', 'run-checks', /Makefile loads it/],
    ['a script of a recipe with two names', 'make check', 'scripts/ci.sh', /Makefile loads it/],
    ['the recipe', 'make test', 'Makefile', /how the tests are run/],
  ])('%s judges', async (_, command, file, reason) => {
    expect(await why(texts, command, file)).toMatch(reason);
  });

  it.each([['a script of another target', 'scripts/deploy.sh'], ['what a script runs', 'tool.sh'], ['a source', 'src/tool.c']])('%s does not', async (_, file) => {
    expect(await why(texts, 'make test', file)).toBeUndefined();
  });
});

describe('in JavaScript', () => {
  const command = 'node --require ./scripts/register.js node_modules/.bin/vitest run';
  it.each([
    ['a helper that only tests import', 'src/testing/check.js', /Only tests import it \(test\/shop\.test\.js\)/],
    ['what only such a helper imports', 'src/testing/same.js', /Only tests and their helpers import it \(src\/testing\/check\.js\)/],
    ['a helper without a telling name, to which tests hand what they computed', 'src/kind.js', /Only tests import it/],
    ['data that tests read', 'expected/total.json', /Tests read it as data \(test\/shop\.test\.js\)/],
    ['what the configuration imports, though another tool does, too', 'build/plugin.js', /vitest\.config\.ts imports it/],
    ['what that imports', 'build/rewrite.js', /build\/plugin\.js imports it/],
    ['what the configuration names', 'build/setup.ts', /vitest\.config\.ts loads it/],
    ['what the command requires', 'scripts/register.js', /The test command loads it/],
    ['what that requires', 'scripts/hooks.cjs', /scripts\/register\.js imports it/],
    ['a new file that is loaded in the place of a helper', 'src/testing/check.ts', /loaded in the place of src\/testing\/check\.js/],
    ['a new configuration that vite looks up', 'postcss.config.cjs', /configures the test runner/],
  ])('%s judges', async (_what, path, reason) => {
    expect(await why(JS, command, path)).toMatch(reason);
  });

  it.each([
    ['a module that only a test imports and whose results it looks at', 'src/total.js'],
    ['a module of the product', 'src/round.js'],
    ['what product and tests import', 'src/shared.js'],
    ['data that product and tests read', 'src/locales/en.json'],
    ['a new module', 'src/new.js'],
    ['a script that nothing imports', 'rollup.config.js'],
  ])('%s is judged', async (_what, path) => {
    expect(await why(JS, command, path)).toBeUndefined();
  });

  it.each([
    'assert.equal(kind(1) + total([2]), 3);', 'assert.equal(kind(total([1]), 2), 1);', 'expect(kind(total([1, 2]), 2)).toBe(2);', 'assert.deepEqual(kind(total([1])), [1]);',
  ])('what a test computes with is judged: %s', async (line) => {
    const test = JS['test/shop.test.js'].replace('kind(total([1, 2]), 2);', line);
    expect(await why({ ...JS, 'test/shop.test.js': test }, command, 'src/kind.js')).toBeUndefined();
  });

  it('a helper with tests of its own is judged', async () => {
    expect(await why({ ...JS, 'test/check.test.js': 'import { check } from "../src/testing/check.js";' }, command, 'src/testing/check.js')).toBeUndefined();
  });

  it('a helper that the package offers to others is judged', async () => {
    const texts = { ...JS, 'package.json': '{"name":"shop","exports":{".":"./src/total.js","./testing":"./src/testing/check.js"}}' };
    expect(await why(texts, command, 'src/testing/check.js')).toBeUndefined();
  });

  it('jest names what it loads in package.json', async () => {
    const texts = { ...JS, 'package.json': '{"name":"shop","jest":{"setupFilesAfterEnv":["<rootDir>/build/setup.ts"]}}' };
    expect(await why(texts, 'jest', 'build/setup.ts')).toMatch(/package\.json loads it/);
  });

  it('mocha names what it loads in YAML', async () => {
    expect(await why({ ...JS, 'build/hooks.js': '', '.mocharc.yml': 'require:\n  - ./build/hooks\nspec: test/*.js\n' }, 'mocha', 'build/hooks.js')).toMatch(/\.mocharc\.yml loads it/);
  });
});

const PYTHON = {
  'pyproject.toml': '[tool.pytest.ini_options]\naddopts = "-p shop.plugin"\npythonpath = ["vendored"]\n',
  'shop/__init__.py': '',
  'shop/cart.py': 'def total(prices):\n    assert prices\n    return sum(prices)\n',
  'shop/testing.py': 'def check(found, wanted):\n    assert found == wanted\n',
  'shop/plugin.py': 'def pytest_configure(config): pass\n',
  'shop/factory_boxes.py': 'BOXES = []\n',
  'vendored/inner/__init__.py': '',
  'conftest.py': 'from shop.factory_boxes import BOXES\npytest_plugins = ["shop.more"]\n',
  'shop/more.py': '',
  'data/rows.csv': '1,2\n',
  'shop/rates.csv': '1\n',
  'shop/rates.py': 'open("rates.csv")\n',
  'tests/test_shop.py': 'from shop.cart import total\nfrom shop import testing\nopen("data/rows.csv")\nopen("shop/rates.csv")\ndef test_a():\n    testing.check(total([1]), 1)\n    assert total([2]) == 2\n',
} satisfies Texts;

describe('in Python', () => {
  const command = 'python3 -m pytest';
  it.each([
    ['a helper that only tests import', 'shop/testing.py', /Only tests import it/],
    ['a plugin that the configuration names', 'shop/plugin.py', /pyproject\.toml loads it/],
    ['a plugin that conftest names', 'shop/more.py', /conftest\.py loads it/],
    ['what conftest imports', 'shop/factory_boxes.py', /Only tests import it \(conftest\.py\)/],
    ['data that tests read', 'data/rows.csv', /Tests read it as data/],
    ['a new module before the standard library', 'decimal.py', /the module decimal of Python's standard library/],
    ['a new package before the standard library, in a deeper folder that is searched', 'vendored/json/__init__.py', /the module json/],
    ['a new module before pytest', 'src/pluggy.py', /the installed package pluggy/],
  ])('%s judges', async (_what, path, reason) => {
    expect(await why(PYTHON, command, path)).toMatch(reason);
  });

  it.each([
    ['a module that only tests import', 'shop/cart.py'],
    ['data that the product reads, too', 'shop/rates.csv'],
    ['a new module inside a package, whatever its name', 'shop/json.py'],
    ['a new module that tests wait for', 'cart.py'],
  ])('%s is judged', async (_what, path) => {
    expect(await why(PYTHON, command, path)).toBeUndefined();
  });
});

describe('in Go', () => {
  const texts = {
    'go.mod': 'module example.com/shop\n',
    'cart/cart.go': 'package cart\n',
    'cart/cart_test.go': 'package cart\nimport (\n\t"testing"\n\t"example.com/shop/internal/testutil"\n)\nfunc TestA(t *testing.T) {\n\ttestutil.Cases("cases/all.txt", t)\n\twrite("notes.txt", "docs/cart.md")\n}\n',
    'cart/cases/all.txt': '1 = 1\n',
    'cart/notes.txt': '',
    'docs/cart.md': '',
    'cart/helpers.go': 'package cart\nimport "testing"\nfunc mustEqual(t *testing.T, a, b int) {}\n',
    'cart/binary.go': 'package cart\nimport "testing"\nvar inTests = testing.Testing()\n',
    'internal/testutil/equal.go': 'package testutil\nfunc Equal(a, b int) bool { return a == b }\n',
    'internal/round/round.go': 'package round\n',
    'internal/round/round_test.go': 'package round\nimport "testing"\n',
  };
  it.each([['a package that only tests import', 'internal/testutil/equal.go'], ['a text that a helper of theirs reads by its folder', 'cart/cases/all.txt'], ['a function that takes what tests get', 'cart/helpers.go']])('%s judges', async (_what, path) => {
    expect(await why(texts, 'go test ./...', path)).toMatch(/tests/i);
  });
  it.each([['a package with tests of its own', 'internal/round/round.go'], ['code that asks whether it is in a test', 'cart/binary.go'], ['a package', 'cart/cart.go'], ['a text that tests name', 'cart/notes.txt'], ['a document', 'docs/cart.md']])('%s is judged', async (_what, path) => {
    expect(await why(texts, 'go test ./...', path)).toBeUndefined();
  });
});

describe('in Rust', () => {
  const texts = {
    'Cargo.toml': '[package]\nname = "shop"\n',
    'src/lib.rs': 'pub mod cart;\n#[cfg(test)]\nmod checks;\n#[cfg(not(test))]\nmod real;\n',
    'src/cart.rs': '',
    'src/real.rs': '',
    'src/checks.rs': 'mod inner;\n',
    'src/checks/inner.rs': '',
  };
  it.each(['src/checks.rs', 'src/checks/inner.rs'])('%s, compiled for tests only, judges', async (path) => {
    expect(await why(texts, 'cargo test', path)).toBe('src/lib.rs compiles it for tests only.');
  });
  it.each(['src/cart.rs', 'src/real.rs', 'src/lib.rs'])('%s is judged', async (path) => {
    expect(await why(texts, 'cargo test', path)).toBeUndefined();
  });
});

it('reads a project once for all patches that are judged on the same files with the same command', async () => {
  let reads = 0;
  const files = { paths: new Set(Object.keys(JS)), text: (file: string) => { reads += 1; return (JS as Texts)[file]; } };
  const known = new KnownJudgingFiles();
  const ask = (command: string, of = files) => known.of(of, { command, configuration: [] }, '/nonexistent').whyItJudges({ path: 'src/testing/check.js', before: '' });
  const first = await ask('node --test');
  const after = reads;
  expect(await ask('node --test')).toBe(first);
  expect(reads - after).toBeLessThan(after / 4);
  await ask('node --test test/a.test.js');
  await ask('node --test', { ...files });
  expect(reads).toBeGreaterThan(2 * after);
});
