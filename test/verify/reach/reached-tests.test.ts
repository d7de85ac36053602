import { describe, expect, it } from 'vitest';
import { reachedTests } from '../../../backend/verify/reach/reached-tests.ts';
import type { TestReport } from '../../../backend/verify/runners/test-report.ts';
import { RUNNERS } from '../../../backend/verify/runners/runners.ts';

type Texts = Readonly<Record<string, string>>;

const passed = (id: string, durationMs?: number): TestReport['results'][number] =>
  ({ id, kind: 'test', status: 'passed', ...(durationMs !== undefined && { durationMs }) });

/** The command for the tests that a change reaches, of a project in which each file or package of `units` has one test. */
async function commandFor(texts: Texts, command: string, units: readonly string[], changed: readonly string[], failing: readonly string[] = []): Promise<string | undefined> {
  const runner = RUNNERS.find(({ understands }) => understands(command));
  if (!runner) throw new Error(`no runner: ${command}`);
  const files = { paths: new Set(Object.keys(texts)), text: (file: string) => texts[file] };
  const chosen = { runner, command, endsWithTests: true, checks: [] };
  const report = { results: units.map((unit) => passed(`${unit} > works`)) };
  const reached = await reachedTests({ report, changed, ids: failing.map((unit) => `${unit} > works`), chosen, files });
  if (reached) for (const unit of failing) expect(reached.covers(`${unit} > works`)).toBe(true);
  return reached?.command;
}

const JS: Texts = {
  'package.json': '{"name":"shop","type":"module"}',
  'src/round.js': 'export const round = (x) => x;\n',
  'src/total.js': 'import { round } from "./round.js";\nexport const total = (list) => round(list.length);\n',
  'src/page.js': 'export const page = 1;\n',
  'src/name.js': 'export const name = 1;\n',
  'data/rates.json': '{}',
  'test/total.test.js': 'import { total } from "../src/total.js";\n',
  'test/page.test.js': 'import { page } from "../src/page.js";\n',
  'test/name.test.js': 'import { name } from "../src/name.js";\n',
  'test/any.test.js': 'const file = (name) => `../src/${name}.js`;\nimport(file("round"));\n',
};
const JS_TESTS = Object.keys(JS).filter((file) => file.startsWith('test/'));

describe('the command for the tests that a change reaches', () => {
  it.each([
    ['node --test', "node --test 'test/total.test.js'"],
    ['node --test --test-concurrency=1 test/', "node --test --test-concurrency=1 'test/total.test.js'"],
    ["node --test 'test/**/*.test.js'", "node --test 'test/total.test.js'"],
    ['vitest run --coverage', "vitest run 'test/total.test.js' --coverage"],
    ['vitest', "vitest 'test/total.test.js'"],
    ['npx vitest run test', "npx vitest run 'test/total.test.js'"],
    ['jest --ci', "jest --runTestsByPath 'test/total.test.js' --ci"],
    ['react-scripts test', "react-scripts test --runTestsByPath 'test/total.test.js'"],
    ['mocha --require test/setup.js test/*.js', "mocha --require test/setup.js 'test/total.test.js'"],
    ['npx mocha -R dot -- test', "npx mocha -R dot -- 'test/total.test.js'"],
    ['mocha test/page.test.js test/total.test.js test/name.test.js test/any.test.js', "mocha 'test/total.test.js'   "],
    ['ava', "ava 'test/total.test.js'"],
    ["tape 'test/*.js'", "tape 'test/total.test.js'"],
    ['npm run build || conductor_failed=$?; vitest run', "npm run build || conductor_failed=$?; vitest run 'test/total.test.js'"],
  ])('%s: names files in the place of its own', async (command, expected) => {
    expect(await commandFor(JS, command, JS_TESTS, ['src/round.js'])).toBe(expected);
  });

  it('also runs the tests that failed before, whatever the change reaches', async () => {
    expect(await commandFor(JS, 'vitest run', JS_TESTS, ['src/round.js'], ['test/page.test.js']))
      .toBe("vitest run 'test/page.test.js' 'test/total.test.js'");
  });

  it('is none where the command cannot be told, or says itself what of a file it runs', async () => {
    for (const command of ['cd packages/a && vitest run', 'vitest run && mocha && vitest run', 'vitest run $FILES', 'jest && jest -c other.js'])
      expect(await commandFor(JS, command, JS_TESTS, ['src/round.js'])).toBeUndefined();
    // A file of tests that is not among those of the command.
    expect(await commandFor(JS, 'mocha test/page.test.js', JS_TESTS, ['src/round.js'])).toBeUndefined();
    expect(await commandFor({ ...JS, 'test/[id].test.js': JS['test/total.test.js'] ?? '' }, 'vitest run', [...JS_TESTS, 'test/[id].test.js'], ['src/round.js'])).toBeUndefined();
  });

  it('is none where imports say nothing: data, what sets up the runner, or a file that no test imports', async () => {
    expect(await commandFor(JS, 'vitest run', JS_TESTS, ['src/round.js', 'data/rates.json'])).toBeUndefined();
    const configured = { ...JS, 'vitest.config.ts': 'export default { test: { setupFiles: ["./setup.ts"] } };\n', 'setup.ts': 'import "./src/round.js";\n' };
    expect(await commandFor(configured, 'vitest run', JS_TESTS, ['src/round.js'])).toBeUndefined();
    const required = { ...JS, 'test/setup.js': 'import "../src/round.js";\n' };
    expect(await commandFor(required, 'mocha --require test/setup.js test/*.js', JS_TESTS, ['src/round.js'])).toBeUndefined();
    expect(await commandFor({ ...JS, 'src/alone.js': '' }, 'vitest run', JS_TESTS, ['src/alone.js'])).toBeUndefined();
  });

  it('is none where the tests take most of the time', async () => {
    expect(await commandFor(JS, 'vitest run', JS_TESTS, ['src/round.js'], ['test/page.test.js', 'test/name.test.js'])).toBeUndefined();
    const files = { paths: new Set(Object.keys(JS)), text: (file: string) => JS[file] };
    const [runner] = RUNNERS.filter(({ name }) => name === 'vitest');
    if (!runner) throw new Error('no vitest');
    const report = { results: [passed('test/total.test.js > a', 900), passed('test/page.test.js > a', 50), passed('test/name.test.js > a', 50)] };
    const chosen = { runner, command: 'vitest run', endsWithTests: true, checks: [] };
    expect(await reachedTests({ report, changed: ['src/round.js'], ids: [], chosen, files })).toBeUndefined();
    expect((await reachedTests({ report, changed: ['src/page.js'], ids: [], chosen, files }))?.command).toBe("vitest run 'test/page.test.js'");
  });

  const PYTHON: Texts = {
    'shop/__init__.py': '',
    'shop/cart.py': 'from .tax import rate\n',
    'shop/tax.py': 'rate = 1\n',
    'shop/page.py': '',
    'tests/test_cart.py': 'from shop.cart import total\n',
    'tests/test_page.py': 'from shop import page\n',
    'tests/test_other.py': 'import json\n',
    'tests/web/conftest.py': 'from shop.tax import rate\n',
    'tests/web/test_web.py': 'def test_web(client): pass\n',
    'tests/web/test_api.py': 'def test_api(client): pass\n',
    'tests/test_more.py': '', 'tests/test_most.py': '', 'tests/test_less.py': '',
  };
  const PYTHON_TESTS = Object.keys(PYTHON).filter((file) => file.includes('/test_'));

  it('follows what pytest and Python load by place: conftest.py, and the packages around a module', async () => {
    expect(await commandFor(PYTHON, 'python3 -m pytest', PYTHON_TESTS, ['shop/tax.py']))
      .toBe("python3 -m pytest 'tests/test_cart.py' 'tests/web/test_api.py' 'tests/web/test_web.py'");
    expect(await commandFor(PYTHON, 'pytest tests -q', PYTHON_TESTS, ['shop/page.py'])).toBe("pytest 'tests/test_page.py' -q");
    expect(await commandFor(PYTHON, 'pytest', PYTHON_TESTS, ['shop/__init__.py']))
      .toBe("pytest 'tests/test_cart.py' 'tests/test_page.py' 'tests/web/test_api.py' 'tests/web/test_web.py'");
    expect(await commandFor(PYTHON, 'pytest tests/test_cart.py::test_a', PYTHON_TESTS, ['shop/page.py'])).toBeUndefined();
  });

  it('names the packages of Go that import the one of the change', async () => {
    const go: Texts = {
      'go.mod': 'module example.com/shop\n',
      'tax/tax.go': 'package tax\n', 'tax/tax_test.go': 'package tax\n',
      'cart/a.go': 'package cart\n', 'cart/b.go': 'package cart\nimport "example.com/shop/tax"\n', 'cart/cart_test.go': 'package cart_test\n',
      'page/page.go': 'package page\n', 'page/page_test.go': 'package page\n', 'menu/menu.go': 'package menu\n', 'menu/menu_test.go': 'package menu\n',
    };
    const packages = ['tax', 'cart', 'page', 'menu'].map((name) => `example.com/shop/${name}`);
    expect(await commandFor(go, 'go test ./...', packages, ['tax/tax.go'])).toBe("go test 'example.com/shop/cart' 'example.com/shop/tax'");
    expect(await commandFor(go, 'go test -race ./... -timeout 9s', packages, ['page/page.go'])).toBe("go test -race 'example.com/shop/page' -timeout 9s");
    expect(await commandFor(go, 'go test ./page', packages, ['page/page.go'])).toBeUndefined();
    expect(await commandFor(go, 'go test -tags slow ./tax/... cart ./menu/... ./page/... -v', packages, ['page/page.go'])).toBe("go test -tags slow 'example.com/shop/page'    -v");
  });

  it('names packages of all modules of a workspace of Go', async () => {
    const go: Texts = {
      'go.mod': 'module example.com/shop\n', 'shop.go': 'package shop\nimport "example.com/tax"\n',
      'go.work': 'go 1.24\nuse (\n\t.\n\t./tax\n\t./page\n\t./tests\n)\n',
      'tax/go.mod': 'module example.com/tax\n', 'tax/tax.go': 'package tax\n',
      'page/go.mod': 'module example.com/page\n', 'page/page.go': 'package page\n', 'page/page_test.go': 'package page\n',
      'tests/go.mod': 'module example.com/all_tests\n', 'tests/shop_test.go': 'package tests\nimport "example.com/shop"\n',
    };
    const packages = ['example.com/page', 'example.com/all_tests', 'example.com/page/list', 'example.com/page/menu'];
    expect(await commandFor(go, 'go test ./... ./tax/... ./page/... ./tests/...', packages, ['tax/tax.go'])).toBe("go test 'example.com/all_tests'   ");
  });

  it('is none for runners whose tests cannot be named by files', async () => {
    expect(await commandFor({ 'src/lib.rs': '' }, 'cargo test', ['shop'], ['src/lib.rs'])).toBeUndefined();
  });
});
