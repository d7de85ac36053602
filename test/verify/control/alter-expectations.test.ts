import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { TestRunnerName } from '../../../backend/protocol/test-runners.ts';
import { alterExpectations } from '../../../backend/verify/control/alter-expectations.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/*
 * What is altered and what is left alone. That altered tests turn red with honest code, and stay green with code that has reached the
 * judge, is shown by the real runners in test/verify/honest and test/verify/reward-hacks.
 */

interface Source {
  readonly runner: TestRunnerName;
  readonly text: string;
  /** Titles of the tests that must be altered, and of those of which nothing is sure. */
  readonly altered: readonly string[];
  readonly left: readonly string[];
}

const SOURCES: Record<string, Source> = {
  'test_a.py': {
    runner: 'pytest',
    text: [
      'def test_value():\n    assert f(2) == 4\n',
      'def test_nothing():\n    f(2)\n',
      'def test_any():\n    assert f(2) == ANY\n',
      'def test_many():\n    for x in [1, 2]:\n        assert f(x) == x * 2\n',
    ].join('\n'),
    altered: ['test_value', 'test_many'],
    left: ['test_nothing', 'test_any'],
  },
  'a.test.js': {
    runner: 'node-test',
    text: [
      'import assert from \'node:assert/strict\';\nimport { it } from \'node:test\';',
      'it(\'value\', () => { assert.equal(f(2), 4); });',
      'it(\'nothing\', () => { f(2); });',
      'it(\'awaited\', async () => { assert.deepEqual(await f(2), { a: 1 }); });\n',
    ].join('\n'),
    altered: ['value', 'awaited'],
    left: ['nothing'],
  },
  'b.test.ts': {
    runner: 'vitest',
    text: [
      'import { expect, it } from \'vitest\';',
      'it(\'value\', () => { expect(f(2)).toBe(4); });',
      'it(\'throws\', () => { expect(() => f()).toThrow(); });',
      'it(\'nothing\', () => { f(2); });\n',
    ].join('\n'),
    altered: ['value', 'throws'],
    left: ['nothing'],
  },
  'a_test.go': {
    runner: 'go',
    text: [
      'package a\n\nimport "testing"\n',
      'func TestValue(t *testing.T) {\n\tif got := F(2); got != 4 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n',
      'func TestNothing(t *testing.T) {\n\tF(2)\n}\n',
    ].join('\n'),
    altered: ['TestValue'],
    left: ['TestNothing'],
  },
};

async function alter(file: string, { runner, text }: Pick<Source, 'runner' | 'text'>, titles: readonly string[], paths = [file]) {
  const folder = await temporaryFolder();
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
  await writeFile(path.join(folder, file), text);
  const tests = { folder, paths: new Set(paths), runner: { name: runner, idRoot: 'file' as const }, ids: titles.map((title) => `${file} > ${title}`) };
  const { certain, texts } = await alterExpectations(tests);
  return { certain: [...certain], text: texts.get(file) ?? text };
}

it.each([
  ['test_a.py', 'pytest', (nested: string) => `def test_deep():\n    assert f() == ${nested}\n`, 'test_deep'],
  ['a.test.js', 'node-test', (nested: string) => `import assert from 'node:assert';\nimport { it } from 'node:test';\nit('deep', () => { assert.deepEqual(f(), ${nested}); });\n`, 'deep'],
] as const)('alters a value that is nested deep in time that grows with its depth alone: %s', async (file, runner, text, title) => {
  const nested = `${'['.repeat(60)}7${']'.repeat(60)}`;
  const altered = await alter(file, { runner, text: text(nested) }, [title]);
  expect(altered.certain).toEqual([`${file} > ${title}`]);
  expect(altered.text).toMatch(/\[{60}[^7]\]{60}/);
});

describe('with all tests that run', () => {
  const among = async (file: string, runner: TestRunnerName, text: string, ids: readonly string[], all: readonly string[]) => {
    const folder = await temporaryFolder();
    await writeFile(path.join(folder, file), text);
    const named = (titles: readonly string[]): readonly string[] => titles.map((title) => `${file} > ${title}`);
    const { certain, texts } = await alterExpectations({ folder, paths: new Set([file]), runner: { name: runner, idRoot: 'file' }, ids: named(ids), among: named(all) });
    return { certain: [...certain].map((id) => id.slice(file.length + 3)).sort(), isAltered: texts.has(file) };
  };
  const table = '@pytest.mark.parametrize("n", [1, 2])\ndef test_row(n):\n    assert f() == 4\n\ndef test_row_like():\n    assert f() == 4\n';
  const inherited = 'class Base:\n    def test_in(self):\n        assert f() == 4\n\nclass TestA(Base):\n    pass\n\nclass TestB(Base):\n    pass\n';
  const data = "<?php\nclass ATest extends TestCase {\n  #[DataProvider('rows')]\n  public function testRow($n) { $this->assertSame(4, f()); }\n  public static function rows() { return ['a' => [1], 'b' => [2]]; }\n}\n";
  const parts = "import assert from 'node:assert/strict';\nimport { it } from 'node:test';\nit('all', async (t) => { assert.equal(f(), 4); await t.test('one', () => { assert.equal(f(), 4); }); });\n";

  it.each([
    ['the other rows of a table', 'test_a.py', 'pytest', table, ['test_row[1]'], ['test_row[1]', 'test_row[2]', 'test_row_like'], ['test_row[1]', 'test_row[2]']],
    ['the same test of another class', 'test_a.py', 'pytest', inherited, ['TestA > test_in'], ['TestA > test_in', 'TestB > test_in'], ['TestA > test_in', 'TestB > test_in']],
    ['other sets of data', 'ATest.php', 'phpunit', data, ['ATest > testRow with data set "a"'], ['ATest > testRow with data set "a"', 'ATest > testRow with data set "b"'],
      ['ATest > testRow with data set "a"', 'ATest > testRow with data set "b"']],
  ] as const)('names as altered %s, too', async (_what, file, runner, text, ids, all, certain) => {
    expect(await among(file, runner, text, ids, all)).toEqual({ certain: [...certain], isAltered: true });
  });

  it.each([
    ['a table of many rows', 'test_a.py', 'pytest', table, ['test_row[1]'], Array.from({ length: 30 }, (_, row) => `test_row[${row}]`)],
    ['a test that declares others', 'a.test.js', 'node-test', parts, ['all'], ['all', 'all > one']],
  ] as const)('leaves %s as it is', async (_what, file, runner, text, ids, all) => {
    expect(await among(file, runner, text, ids, all)).toEqual({ certain: [], isAltered: false });
  });
});

it.each([
  ['that need not be found', 'from django.test import TestCase\n', 'self.assertContains(page(), "written", count=0)'],
  ['for a method of the project\'s own', 'from unittest import TestCase\n', 'self.assertContains(page(), "written")'],
])('alters no text of a response %s', async (_what, head, body) => {
  const made = await alter('test_a.py', { runner: 'unittest', text: `${head}\nclass Page(TestCase):\n    def test_page(self):\n        ${body}\n` }, ['Page > test_page']);
  expect(made.certain).toEqual([]);
});

describe('the negative control', () => {
  it.each(Object.entries(SOURCES))('alters of %s what must then fail, and is not sure of anything else', async (file, source) => {
    const { certain, text } = await alter(file, source, [...source.altered, ...source.left]);
    expect(certain.sort()).toEqual(source.altered.map((title) => `${file} > ${title}`).sort());
    expect(text).not.toBe(source.text);
  });

  it.each(Object.entries(SOURCES))('leaves %s as it was where no test of it is to be altered, or none can be', async (file, source) => {
    expect(await alter(file, source, ['of another name'])).toEqual({ certain: [], text: source.text });
    expect(await alter(file, source, source.left)).toEqual({ certain: [], text: source.text });
  });

  it.each([
    ['test_a.py', 'pytest', 'def test_total():\n    # 600 in all\n    assert total([100, 500]) == 600, "not 600"\n', 'test_total',
      /^def test_total\(\):\n    # (\d{3}) in all\n    assert total\(\[100, 500\]\) == \1, "not \1"\n$/],
    ['test_g.py', 'pytest', 'def test_fails():\n    pytest.raises(LookupError, find, "no").match("^no")\n', 'test_fails', /pytest\.raises\((?!LookupError)\w+Error, find, "no"\)/],
    ['test_h.py', 'pytest', 'def test_fails():\n    failure = pytest.raises(LookupError, find, "no")\n    assert failure\n', 'test_fails', /pytest\.raises\((?!LookupError)\w+Error, find, "no"\)/],
    ['a.spec.js', 'jasmine', 'it("later", async () => { await expectAsync(f()).toBeResolvedTo(600); });\n', 'later', /toBeResolvedTo\((?!600)\d{3}\)/],
    ['b.spec.js', 'jasmine', 'it("fails", async () => { await expectAsync(f()).toBeRejectedWithError(TypeError); });\n', 'fails', /toBeRejectedWithError\((?!TypeError)\w+Error\)/],
    ['test_b.py', 'pytest', 'def test_name():\n    expected = "Ada Lovelace"\n    assert name() == expected\n', 'test_name',
      /^def test_name\(\):\n    expected = "[A-Z][a-z]{2} [A-Z][a-z]{7}"\n    assert name\(\) == expected\n$/],
    ['test_c.py', 'pytest', 'import pytest\n\n@pytest.mark.parametrize("given, expected", [(1, 20), (2, 40)])\ndef test_row(given, expected):\n    assert f(given) == expected\n',
      'test_row[1-20]', /\[\(1, \d\d\), \(2, \d\d\)\]\)\ndef test_row\(given, expected\):\n    assert f\(given\) == expected\n$/],
    ['test_d.py', 'unittest', 'from django.test import TestCase\n\nclass Page(TestCase):\n    def test_page(self):\n        self.assertContains(self.client.get("/sums"), "Total: 6")\n', 'Page > test_page',
      /assertContains\(self\.client\.get\("\/sums"\), "[A-Z][a-z]{4}: \d"\)\n$/],
    ['test_e.py', 'unittest', 'from django.test import TestCase\n\nclass Page(TestCase):\n    def test_page(self):\n        self.assertRedirects(self.client.get("/"), "/login", status_code=301)\n', 'Page > test_page',
      /assertRedirects\(self\.client\.get\("\/"\), "\/(?!login)[a-z]{5}", status_code=301\)\n$/],
    ['test_f.py', 'unittest', 'from django.test import TestCase\n\nclass Page(TestCase):\n    def test_page(self):\n        make("written")\n        self.assertContains(page(), "written")\n', 'Page > test_page',
      /make\("written"\)\n +self\.assertContains\(page\(\), "(?!written)[a-z]{7}"\)\n$/],
    ['a.test.js', 'node-test', 'test("total", () => { assert.equal(total([100, 500]), 600, "not 600"); });\n', 'total',
      /^test\("total", \(\) => \{ assert\.equal\(total\(\[100, 500\]\), (\d{3}), "not \1"\); \}\);\n$/],
    ['a.test.ts', 'vitest', 'it("total", () => { expect(total([100, 500])).toBe(true); });\n', 'total',
      /^it\("total", \(\) => \{ expect\(total\(\[100, 500\]\)\)\.toBe\(false\); \}\);\n$/],
    ['a_test.go', 'go', '// 600 in all.\nfunc TestTotal(t *testing.T) {\n\tif got := Total(100, 500); got != 600 {\n\t\tt.Errorf("%d, not 600", got)\n\t}\n}\n', 'TestTotal',
      /^\/\/ (\d{3}) in all\.\nfunc TestTotal\(t \*testing\.T\) \{\n\tif got := Total\(100, 500\); got != \1 \{\n\t\tt\.Errorf\("%d, not \1", got\)\n\t\}\n\}\n$/],
    ['b_test.go', 'go', 'func TestTable(t *testing.T) {\n\tfor _, tt := range []struct{ in, want int }{{1, 20}, {2, 40}} {\n\t\tif got := F(tt.in); got != tt.want {\n\t\t\tt.Error(got)\n\t\t}\n\t}\n}\n', 'TestTable',
      /\{\{1, \d\d\}, \{2, \d\d\}\} \{\n\t\tif got := F\(tt\.in\); got != tt\.want \{\n/],
    ['d_test.go', 'go', 'func TestEither(t *testing.T) {\n\tif got, err := F(1); err == nil && got != nil {\n\t\tt.Error(got)\n\t}\n}\n', 'TestEither',
      /err != nil \|\| got == nil \{\n/],
    ['c_test.go', 'go', 'func check(t *testing.T, in, want int) {\n\tif got := F(in); got != want {\n\t\tt.Fatal(got)\n\t}\n}\n\nfunc TestHelper(t *testing.T) {\n\tcheck(t, 2, 600)\n}\n', 'TestHelper',
      /got != want \{[^]*check\(t, 2, \d{3}\)\n\}\n$/],
    ['e_test.go', 'go', 'func check(t *testing.T, got, want string) {\n\twant = strings.TrimSpace(want)\n\tif got != want {\n\t\tt.Fatal(got)\n\t}\n}\n\nfunc TestRows(t *testing.T) {\n\tfor name, tt := range map[string]struct{ in, want string }{\n\t\t"one": {in: "a", want: " first "},\n\t} {\n\t\ttt := tt\n\t\tt.Log(name)\n\t\tcheck(t, F(tt.in), tt.want)\n\t}\n}\n', 'TestRows',
      /\{in: "a", want: " (?!first)[a-z]{5} "\}/],
    ['f_test.go', 'go', 'func checkAll(t *testing.T, rows []row) {\n\tfor _, r := range rows {\n\t\texpected := r.want\n\t\tif got := F(r.in); got != expected {\n\t\t\tt.Error(got)\n\t\t}\n\t}\n}\n\ntype row struct{ in, want int }\n\nfunc TestGiven(t *testing.T) {\n\trows := []row{{1, 20}, {2, 40}}\n\tcheckAll(t, rows)\n}\n', 'TestGiven',
      /\[\]row\{\{1, (?!20)\d\d\}, \{2, (?!40)\d\d\}\}/],
    ['g_test.go', 'go', 'func TestAssigned(t *testing.T) {\n\tcheck := func(got, want int) {\n\t\tif got != want {\n\t\t\tt.Error(got)\n\t\t}\n\t}\n\tcheck(F(1), 20)\n}\n', 'TestAssigned',
      /check\(F\(1\), (?!20)\d\d\)/],
    ['h_test.go', 'go', 'import qt "github.com/frankban/quicktest"\n\nfunc TestChecked(t *testing.T) {\n\tc := qt.New(t)\n\tc.Assert(F(1), qt.Equals, 20)\n}\n', 'TestChecked',
      /c\.Assert\(F\(1\), qt\.Equals, (?!20)\d\d\)/],
    ['i_test.go', 'go', 'import "github.com/go-quicktest/qt"\n\nfunc TestChecked(t *testing.T) {\n\tqt.Assert(t, qt.DeepEquals(F(1), []int{20}))\n}\n', 'TestChecked',
      /qt\.DeepEquals\(F\(1\), \[\]int\{(?!20)\d\d\}\)/],
    ['j_test.go', 'go', 'import qt "github.com/frankban/quicktest"\n\nfunc TestChecked(t *testing.T) {\n\tqt.Assert(t, F(1), qt.Equals, G(1))\n}\n', 'TestChecked',
      /qt\.Assert\(t, F\(1\), qt\.Not\(qt\.Equals\), G\(1\)\)/],
    ['k_test.go', 'go', 'import "github.com/alecthomas/assert/v2"\n\nfunc TestContained(t *testing.T) {\n\tassert.Contains(t, F(1), "written")\n\tassert.NotContains(t, F(1), "absent")\n}\n', 'TestContained',
      /assert\.Contains\(t, F\(1\), "(?!written)[a-z]{7}"\)/],
    ['l_test.go', 'go', 'import "gotest.tools/v3/assert"\n\nfunc TestDeep(t *testing.T) {\n\tassert.DeepEqual(t, F(1), T{A: 20})\n}\n', 'TestDeep',
      /T\{A: (?!20)\d\d\}/],
    ['a.rs', 'cargo', '// 600 in all\n#[test]\nfn total() { assert_eq!(sum(&[100, 500]), 600, "not 600"); }\n', 'total',
      /^\/\/ (\d{3}) in all\n#\[test\]\nfn total\(\) \{ assert_eq!\(sum\(&\[100, 500\]\), \1, "not \1"\); \}\n$/],
    ['b.rs', 'cargo', '#[test]\nfn table() { for (given, want) in [(1, 20), (2, 40)] { assert_eq!(f(given), want); } }\n', 'table',
      /in \[\(1, \d\d\), \(2, \d\d\)\] \{ assert_eq!\(f\(given\), want\); \} \}\n$/],
    ['documented.rs', 'cargo', '/// An only 777.\n#[derive(Told)]\nenum Pet {\n    /// One of 777.\n    Cat,\n}\n\n/// It is 777.\n#[test]\nfn told() { assert_eq!(777, Pet::Cat.told()); }\n', 'told',
      /^\/\/\/ An only 777\.[^]*\/\/\/ One of 777\.[^]*\/\/\/ It is (?!777)(\d{3})\.\n#\[test\]\nfn told\(\) \{ assert_eq!\(\1, Pet/],
    ['made.rs', 'cargo', '#[test]\nfn named() { assert_eq!(f(1), Shape::Named("first".to_string(), 20)); }\n', 'named',
      /Shape::Named\("(?!first)[a-z]{5}"\.to_string\(\), (?!20\b)\d\d\)/],
    ['converted.rs', 'cargo', '#[test]\nfn text() { assert_eq!("first", <&\'static str>::from(Color::Blue { hue: 20 })); }\n', 'text',
      /"(?!first)[a-z]{5}", <&'static str>::from\(Color::Blue \{ hue: 20 \}\)/],
    ['told.rs', 'cargo', '#[test]\nfn text() { assert_eq!("first", Color::Blue { hue: 20 }.to_string()); }\n', 'text',
      /"(?!first)[a-z]{5}", Color::Blue \{ hue: 20 \}\.to_string/],
    ['owned.rs', 'cargo', '#[test]\nfn text() { assert_eq!("first", String::from(Color::Blue(20))); }\n', 'text',
      /"(?!first)[a-z]{5}", String::from\(Color::Blue\(20\)\)/],
    ...['1 << 3', '1 | 2', '[f; 4]', '7 - 5', 'table[2]', 'Some(6 / 2)'].map((value, index) => [
      `bounds${index}.rs`, 'cargo' as const, `#[test]\nfn bounds() { assert_eq!(f(1), ${value}); }\n`, 'bounds', new RegExp(`assert_ne!\\(f\\(1\\), ${value.replaceAll(/[[\]()|]/g, '\\$&')}\\)`),
    ] as const),
    ['feature.rs', 'cargo', '#[test]\nfn feature() {\n    f(1);\n    #[cfg(feature = "more")]\n    {\n        assert_eq!(f(2), 20);\n    }\n    #[cfg(unix)]\n    // Elsewhere it is another one.\n    assert_eq!(f(3), 30);\n}\n', 'feature', /assert_eq!\(f\(2\), 20\)[^]*assert_eq!\(f\(3\), 30\)|held/],
    ['length.rs', 'cargo', '#[test]\nfn zeros() { assert_eq!(f(1), [20; 4]); }\n', 'zeros', /assert_eq!\(f\(1\), \[(?!20)\d+; 4\]\)/],
    ['minus.rs', 'cargo', '#[test]\nfn minus() { assert_eq!(f(1), -20); }\n', 'minus', /assert_eq!\(f\(1\), -(?!20)\d+\)/],
    ['back.rs', 'cargo', 'fn back(given: &str) { assert_eq!(decode(encode(given)), given); }\n#[test]\nfn there() { back("given"); }\n', 'there', /assert_ne!\(decode\(encode\(given\)\), given\)[^]*back\("given"\)/],
    ['c.rs', 'cargo', '#[test]\nfn refused() { assert!(matches!(f(1), Err(_))); }\n', 'refused', /assert!\(!\(matches!\(f\(1\), Err\(_\)\)\)\); \}\n$/],
    ['ATest.java', 'maven', 'class ATest {\n  // 600 in all\n  @Test void total() { assertEquals(600, Sum.of(100, 500), "not 600"); }\n}\n', 'total',
      /^class ATest \{\n {2}\/\/ (\d{3}) in all\n {2}@Test void total\(\) \{ assertEquals\(\1, Sum\.of\(100, 500\), "not \1"\); \}\n\}\n$/],
    ...([
      ['import static org.junit.Assert.assertTrue;\n', /\{ org\.junit\.Assert\.assertFalse\(/],
      ['import static org.junit.Assert.*;\n', /\{ assertFalse\(/],
      ['import static org.junit.Assert.assertTrue;\nimport static org.junit.Assert.assertFalse;\n', /\{ assertFalse\(/],
      ['', /\{ assertFalse\(/],
    ] as const).map(([imports, altered], index) => [`Truth${index}Test.java`, 'maven' as const, `${imports}class Truth${index}Test {\n  @Test void holds() { assertTrue(Sum.holds()); }\n}\n`, 'holds', altered] as const),
    ['BTest.java', 'maven', 'class BTest {\n  @Test void name() { String want = "Ada Lovelace"; assertThat(Sum.name()).isEqualTo(want); }\n}\n', 'name',
      /String want = "[A-Z][a-z]{2} [A-Z][a-z]{7}"; assertThat\(Sum\.name\(\)\)\.isEqualTo\(want\); \}\n\}\n$/],
  ] as const)('puts a value of the same kind in the place of the expected one, wherever it stands: %s', async (file, runner, text, title, expected) => {
    const altered = await alter(file, { runner, text }, [title]);
    expect(altered.text).toMatch(expected);
    expect(altered.text).not.toMatch(/== 600|\b600\b|Ada Lovelace|[({]1, 20[)}]|[({]2, 40[)}]/);
    expect(altered.certain).toEqual([`${file} > ${title}`]);
  });

  it.each([
    ['a function', 'from .checks import equal as same\n\n\ndef test_given():\n    same(f(1), 20)\n', 'def equal(got, want):\n    expected = want\n    assert got == expected\n', /same\(f\(1\), (?!20)\d\d\)/, 'test_given'],
    ['a name', 'from checks import equal\n\n\ndef test_given():\n    wanted = "first"\n    equal(f(1), want=wanted)\n', 'def equal(got, want):\n    assert got == want\n', /wanted = "(?!first)[a-z]{5}"/, 'test_given'],
    ['a method', 'from checks import Case\n\n\nclass TestIt(Case):\n    def test_given(self):\n        self.renders("a", self.dedent(\'\'\'\n            first\n        \'\'\'))\n', 'class Case(unittest.TestCase):\n    def renders(self, source, expected, **options):\n        self.assertMultiLineEqual(render(source), expected)\n', /renders\("a", self\.dedent\('''\n {12}(?!first)[a-z]{5}\n/, 'TestIt > test_given'],
  ])('alters what is given to %s of a file that the tests import', async (_, text, helper, altered, title) => {
    const folder = await temporaryFolder();
    await mkdir(path.join(folder, 'tests'));
    for (const [name, written] of [['test_a.py', text], ['checks.py', helper]] as const) await writeFile(path.join(folder, 'tests', name), written);
    const id = `tests/test_a.py > ${title}`;
    const made = await alterExpectations({ folder, paths: new Set(['tests/test_a.py', 'tests/checks.py']), runner: { name: 'pytest', idRoot: 'file' }, ids: [id] });
    expect([...made.certain]).toEqual([id]);
    expect([...made.texts.keys()]).toEqual(['tests/test_a.py']);
    expect(made.texts.get('tests/test_a.py')).toMatch(altered);
  });

  it.each([
    ['a class that a file of tests imports', 'from .test_cases import TestIt\n', 'TestIt'],
    ['a class that it imports by another name', 'from .test_cases import TestIt as TestThat\n', 'TestThat'],
    ['all classes that it imports', 'from .test_cases import *\n', 'TestIt'],
    ['a base of its class', 'from .test_cases import TestIt\n\n\nclass TestMore(TestIt, Other):\n    def test_other(self):\n        pass\n', 'TestMore'],
  ])('alters in its own file %s', async (_, collecting, name) => {
    const folder = await temporaryFolder();
    await mkdir(path.join(folder, 'tests'));
    const defining = 'class TestIt(unittest.TestCase):\n    def test_given(self):\n        self.assertEqual(f(1), 20)\n';
    const files = { 'tests/__main__.py': collecting, 'tests/test_cases.py': defining };
    for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, file), text);
    const id = `tests/__main__.py > ${name} > test_given`;
    const made = await alterExpectations({ folder, paths: new Set(Object.keys(files)), runner: { name: 'pytest', idRoot: 'file' }, ids: [id] });
    expect([...made.certain]).toEqual([id]);
    expect([...made.texts.keys()]).toEqual(['tests/test_cases.py']);
    expect(made.texts.get('tests/test_cases.py')).not.toContain('20');
  });

  it('alters no test in a file of the product that tests import', async () => {
    const folder = await temporaryFolder();
    await mkdir(path.join(folder, 'shop'));
    const files = { 'test_a.py': 'from shop.cases import TestIt\n', 'shop/cases.py': 'class TestIt:\n    def test_given(self):\n        assert f(1) == 20\n' };
    for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, file), text);
    const id = 'test_a.py > TestIt > test_given';
    const made = await alterExpectations({ folder, paths: new Set(Object.keys(files)), runner: { name: 'pytest', idRoot: 'file' }, ids: [id] });
    expect([made.certain.size, made.texts.size]).toEqual([0, 0]);
  });

  it.each([
    ['turns a condition of its own', 'def equal(got):\n    assert got.is_fine()\n', 'equal(f(1))'],
    ['compares with what equals anything', 'class Any:\n    def __eq__(self, other): return True\n\ndef equal(got, want):\n    assert got == want\n', 'equal(f(1), 20)'],
    ['computes with what it is given', 'def equal(want):\n    assert back(f(want)) == want\n', 'equal(20)'],
    ['has the value itself', 'WANT = 20\n\ndef equal(got):\n    assert got == WANT\n', 'equal(f(1))'],
  ])('is not sure of a test whose helper in another file %s', async (_, helper, call) => {
    const folder = await temporaryFolder();
    const text = `from checks import equal\n\nWANT = 30\n\ndef test_given():\n    ${call}\n`;
    for (const [name, written] of [['test_a.py', text], ['checks.py', helper]] as const) await writeFile(path.join(folder, name), written);
    const made = await alterExpectations({ folder, paths: new Set(['test_a.py', 'checks.py']), runner: { name: 'pytest', idRoot: 'file' }, ids: ['test_a.py > test_given'] });
    expect(made).toEqual({ certain: new Set(), texts: new Map() });
  });

  it.each([
    ['else', 'try:\n        f(1)\n    except ValueError as error:\n        assert str(error) == "first"\n    else:\n        raise AssertionError("none")', true],
    ['the end of what is tried', 'try:\n        f(1)\n        pytest.fail("none")\n    except ValueError as error:\n        assert str(error) == "first"', true],
    ['nothing', 'try:\n        f(1)\n    except ValueError as error:\n        assert str(error) == "first"', false],
    ['what is caught itself', 'try:\n        f(1)\n        pytest.fail("none")\n    except Exception as error:\n        assert str(error) == "first"', false],
    ['one of two', 'try:\n        f(1)\n    except KeyError:\n        pass\n    except ValueError as error:\n        assert str(error) == "first"\n    else:\n        pytest.fail("none")', false],
  ])('alters what an error is expected to say if the test fails without the error, by %s', async (_, body, isAltered) => {
    const made = await alter('test_error.py', { runner: 'pytest', text: `def test_error():\n    ${body}\n` }, ['test_error']);
    expect(made.certain).toHaveLength(isAltered ? 1 : 0);
    expect(made.text.includes('"first"')).toBe(!isAltered);
  });

  it.each([
    ['computes with it, too', 'func TestTrip(t *testing.T) {\n\tfor _, tt := range []struct{ in string }{{"first"}, {"second"}} {\n\t\tassert.Equal(t, tt.in, decode(encode(tt.in)))\n\t}\n}\n'],
    ['gives it to a helper beside what it made of it', 'func check(t *testing.T, got, want string) {\n\tif got != want {\n\t\tt.Error(got)\n\t}\n}\n\nfunc TestTrip(t *testing.T) {\n\tin := "first"\n\tcheck(t, decode(encode(in)), in)\n}\n'],
    ['computes with it in the helper', 'func check(t *testing.T, in string) {\n\tgot := decode(encode(in))\n\tif got != in {\n\t\tt.Error(got)\n\t}\n}\n\nfunc TestTrip(t *testing.T) {\n\tcheck(t, "first")\n}\n'],
  ])('does not alter a value of Go if the test %s: both sides would be altered', async (_, text) => {
    const whole = `package a\n\nimport (\n\t"testing"\n\n\t"github.com/stretchr/testify/assert"\n)\n\n${text}`;
    const altered = await alter('trip_test.go', { runner: 'go', text: whole }, ['TestTrip']);
    expect(altered.text).toContain('"first"');
  });

  it('is not sure of rows without the field that a helper compares, each of which is a subtest', async () => {
    const text = 'package a\n\nfunc check(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Error(got)\n\t}\n}\n\nfunc TestRows(t *testing.T) {\n\tfor _, tt := range []row{{name: "a", in: 1, want: 20}, {name: "b"}} {\n\t\tt.Run(tt.name, func(t *testing.T) {\n\t\t\tcheck(t, F(tt.in), tt.want)\n\t\t})\n\t}\n}\n';
    expect((await alter('rows_test.go', { runner: 'go', text }, ['TestRows/a'])).text).toContain('want: 20');
  });

  it.each([
    ['a_test.go', 'go', 'func has(t *testing.T, got, part string) {\n\tif !strings.Contains(got, part) {\n\t\tt.Error(got)\n\t}\n}\n\nfunc TestMade(t *testing.T) {\n\thas(t, F(1), fmt.Sprint(1))\n}\n\nfunc TestWritten(t *testing.T) {\n\thas(t, F(2), "written")\n}\n',
      ['TestMade', 'TestWritten'], 'if !strings.Contains(got, part) {', /_has\(t, F\(2\), "written"\)|\bhas\(t, F\(2\), "written"\)/],
    ['test_a.py', 'pytest', 'def has(got, part):\n    assert part in got\n\ndef test_made():\n    has(f(1), str(1))\n\ndef test_written():\n    has(f(2), "written")\n',
      ['test_made', 'test_written'], 'assert part in got', /has\(f\(2\), "written"\)/],
    ['a.rs', 'cargo', 'fn has(got: u8, want: u8) { assert_eq!(got, want); }\n#[test]\nfn made() { has(f(1), g(1)); }\n#[test]\nfn written() { has(f(2), 54); }\n',
      ['made', 'written'], 'assert_eq!(got, want)', /\w*has\(f\(2\), 54\)/],
    ['a.test.js', 'node-test', 'import assert from \'node:assert/strict\';\nimport { it } from \'node:test\';\nfunction has(got, want) { assert.equal(got, want); }\nit(\'made\', () => { has(f(1), g(1)); });\nit(\'written\', () => { has(f(2), 54); });\n',
      ['made', 'written'], 'assert.equal(got, want)', /has\(f\(2\), 54\)/],
  ] as const)('never turns what a helper asserts where it also alters what a test gives to it: %s', async (file, runner, text, titles, asserted, given) => {
    for (const wanted of [titles, titles.toReversed()]) {
      const altered = await alter(file, { runner, text }, wanted);
      expect(altered.certain).not.toEqual([]);
      expect(altered.text.includes(asserted) || given.test(altered.text)).toBe(true);
      expect(altered.text).not.toBe(text);
    }
  });

  it('makes of no item of a list what another item was, and so always expects other values', async () => {
    const text = 'def test_either():\n    assert f(2) in (600, 601)\n';
    for (let draw = 0; draw < 60; draw += 1) {
      const altered = await alter('test_a.py', { runner: 'pytest', text }, ['test_either']);
      const [, ...items] = /f\(2\) in \((\d+), (\d+)\)/.exec(altered.text) ?? [];
      expect(items, altered.text).toHaveLength(2);
      for (const item of items) expect(['600', '601']).not.toContain(item);
    }
  });

  it('touches no file that a patch has brought', async () => {
    const source = SOURCES['test_a.py']!;
    expect(await alter('test_a.py', source, ['test_value'], [])).toEqual({ certain: [], text: source.text });
  });
});

it('alters no value in Go that both sides of an assertion are made of, whatever is drawn', async () => {
  const text = [
    'package a\n\nimport (\n\t"fmt"\n\t"testing"\n)\n',
    'func equal(t *testing.T, got, want string) {\n\tif got != want {\n\t\tt.Error(got, want)\n\t}\n}\n',
    'func TestBothSides(t *testing.T) {\n\ttext := "four"\n\tequal(t, fmt.Sprint(text), text)\n\tequal(t, F(2), "five")\n}\n',
  ].join('\n');
  for (let drawn = 0; drawn < 20; drawn += 1) expect((await alter('b_test.go', { runner: 'go', text }, ['TestBothSides'])).text).toContain('text := "four"');
});

it('alters no value in Go that a package with a name of the standard library makes another one of', async () => {
  const text = `package a\n\nimport (\n\t"testing"\n\n\t"github.com/stretchr/testify/assert"\n\n\t"a/maps"\n)\n\nfunc TestCopy(t *testing.T) {\n\tgiven := map[string]int{"a": 4}\n\tassert.Equal(t, given, maps.Copy(given))\n\tassert.Equal(t, 5, F(2))\n}\n`;
  for (let drawn = 0; drawn < 10; drawn += 1) expect((await alter('g_test.go', { runner: 'go', text }, ['TestCopy'])).text).toContain('"a": 4');
});

it('alters no field of a struct in Go that is used as a whole, or by a method, whatever is drawn', async () => {
  const test = (use: string): string => [
    'package a\n\nimport (\n\t"strings"\n\t"testing"\n)\n',
    'func has(t *testing.T, got, part string) {\n\tif !strings.Contains(got, part) {\n\t\tt.Error(got)\n\t}\n}\n',
    `func TestHelp(t *testing.T) {\n\troot := &Command{Use: "root", Long: "described"}\n\toutput := ${use}\n\thas(t, output, root.Long)\n}\n`,
  ].join('\n');
  const altered = async (use: string): Promise<string> => (await alter('c_test.go', { runner: 'go', text: test(use) }, ['TestHelp'])).text;
  for (let drawn = 0; drawn < 10; drawn += 1) {
    for (const use of ['execute(root, "help")', 'root.Help()']) expect(await altered(use)).toContain('Long: "described"');
    expect(await altered('execute(root.Use, "help")')).not.toContain('Long: "described"');
  }
});

it('alters no constant of a file in Go that its methods or helpers use, too, whatever is drawn', async () => {
  const file = (method: string): string => [
    'package a\n\nimport "testing"\n',
    'const on = "on"\n',
    `func (s *state) Set(text string) error {\n\t${method}\n\treturn nil\n}\n`,
    'func TestOther(t *testing.T) {\n\tF(on)\n}\n',
    'func TestSet(t *testing.T) {\n\tvar s state\n\tParse(&s)\n\tif s.text != on {\n\t\tt.Fatal(s)\n\t}\n}\n',
  ].join('\n');
  const altered = async (method: string): Promise<string> => (await alter('d_test.go', { runner: 'go', text: file(method) }, ['TestSet'])).text;
  for (let drawn = 0; drawn < 10; drawn += 1) {
    expect(await altered('s.text = on')).toContain('const on = "on"');
    expect(await altered('s.text = text')).not.toContain('const on = "on"');
  }
});

it('alters no value of a file in Python that its fixtures or helpers use, too, whatever is drawn', async () => {
  const file = (limit: string): string =>
    `LIMIT = 600\n\n\ndef made():\n    return F(${limit})\n\n\ndef test_other():\n    F(LIMIT)\n\n\ndef test_limit():\n    assert made().limit == LIMIT\n`;
  const altered = async (limit: string): Promise<string> => (await alter('test_b.py', { runner: 'pytest', text: file(limit) }, ['test_limit'])).text;
  for (let drawn = 0; drawn < 10; drawn += 1) {
    expect(await altered('LIMIT')).toContain('LIMIT = 600');
    expect(await altered('7')).not.toContain('LIMIT = 600');
  }
});

it('alters what a message mentions, and no verb of its format, whatever is drawn', async () => {
  const text = [
    'package a\n\nimport "testing"\n',
    'func TestVerb(t *testing.T) {\n\tif got := F(1); got != "v" {\n\t\tt.Errorf("not v but %v and %+v", got, got)\n\t}\n}\n',
  ].join('\n');
  for (let drawn = 0; drawn < 10; drawn += 1) {
    const altered = (await alter('e_test.go', { runner: 'go', text }, ['TestVerb'])).text;
    expect(altered).toMatch(/"not (?!v )\S+ but %v and %\+v"/);
  }
});

it('alters all tests where a comment mentions what one expects and, in that, what another one expects', async () => {
  const text = '# Order[Ts] holds for any Ts.\n\ndef test_whole():\n    assert str(f(1)) == Order[Ts]\n\ndef test_part():\n    assert g(1) == Ts\n';
  const altered = await alter('test_b.py', { runner: 'pytest', text }, ['test_whole', 'test_part']);
  expect(altered.certain).toEqual(['test_b.py > test_whole', 'test_b.py > test_part']);
  expect(altered.text).not.toMatch(/Order\[Ts\]|\bTs\b/);
});

it('reads a file of thousands of tests, also on a machine that does other work: the limit is of processor time', async () => {
  const text = Array.from({ length: 5_000 }, (_, index) => `def test_${index}():\n    pass\n`).join('') + '\ndef test_value():\n    assert f(2) == 4\n';
  using clock = vi.spyOn(performance, 'now');
  let now = 0;
  clock.mockImplementation(() => (now += 10_000));
  expect((await alter('test_c.py', { runner: 'pytest', text }, ['test_value'])).certain).toEqual(['test_c.py > test_value']);
});

describe('the negative control of Go', () => {
  const drawn = async (text: string, titles: readonly string[]): Promise<readonly string[]> =>
    Promise.all(Array.from({ length: 10 }, async () => (await alter('f_test.go', { runner: 'go', text }, titles)).text));
  const HEAD = 'package a\n\nimport "testing"\n\n';

  it('alters no value of a test that the handlers around its subtests use, too', async () => {
    const text = `${HEAD}func TestServed(t *testing.T) {\n\tfirst := "first"\n\thandle(func(w Writer) {\n\t\tif err := w.Write(first); err != nil {\n\t\t\tt.Fatalf("not written: %v", err)\n\t\t}\n\t})\n`
      + '\tt.Run("one", func(t *testing.T) {\n\t\tif Body() != first {\n\t\t\tt.Fatal("another body")\n\t\t}\n\t})\n}\n';
    for (const altered of await drawn(text, ['TestServed/one'])) expect(altered).toContain('first := "first"');
  });

  it('takes the function of a test for what its name calls, before one of the file', async () => {
    const text = `${HEAD}func check(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Error(got)\n\t}\n}\n\n`
      + 'func TestOwn(t *testing.T) {\n\tcheck := func(want int) {\n\t\tif F() != want {\n\t\t\tt.Error(want)\n\t\t}\n\t}\n\tcheck(20)\n}\n';
    for (const altered of await drawn(text, ['TestOwn'])) {
      expect(altered).toMatch(/\tcheck\((?!20\))\d+\)/);
      expect(altered).not.toContain('_check(');
    }
  });

  it('leaves what a logger is given alone: it is no message of the test', async () => {
    const text = `${HEAD}func TestLogged(t *testing.T) {\n\tlogger := New()\n\tlogger.Log("kaboom")\n\tif got := logger.Last(); got != "kaboom" {\n\t\tt.Errorf("not kaboom: %s", got)\n\t}\n}\n`;
    for (const altered of await drawn(text, ['TestLogged'])) {
      expect(altered).toContain('logger.Log("kaboom")');
      expect(altered).not.toContain('not kaboom');
    }
  });

  it('does not turn in a test what it asserts for its subtests, which are altered by what they give', async () => {
    const text = `${HEAD}func TestBodies(t *testing.T) {\n\tsame := func(t *testing.T, want string) {\n\t\tif Body() != want {\n\t\t\tt.Fatal("another body")\n\t\t}\n\t}\n`
      + '\tt.Run("one", func(t *testing.T) {\n\t\tsame(t, "one")\n\t})\n}\n';
    for (const altered of await drawn(text, ['TestBodies', 'TestBodies/one'])) {
      expect(altered).toContain('if Body() != want {');
      expect(altered).not.toContain('same(t, "one")');
    }
  });
});

describe('the negative control of Python', () => {
  const drawn = async (text: string, title: string): Promise<readonly string[]> =>
    Promise.all(Array.from({ length: 10 }, async () => (await alter('test_c.py', { runner: 'pytest', text }, [title])).text));

  it('leaves docstrings alone where the tests read them', async () => {
    const text = (read: string): string => `def test_read():\n    def f():\n        "described"\n    assert made(f).${read} == "described"\n`;
    for (const altered of await drawn(text('__doc__'), 'test_read')) expect(altered).toMatch(/        "described"\n    assert made\(f\)\.__doc__ == "(?!described")/);
    for (const altered of await drawn(text('text'), 'test_read')) expect(altered).not.toContain('"described"');
  });

  it('alters no test that is defined in two branches, of which one runs', async () => {
    const text = 'if PY3:\n    def test_b():\n        assert b() == 1\n\nelse:\n    def test_b():\n        assert b() == 2\n';
    for (const altered of await drawn(text, 'test_b')) expect(altered).toBe(text);
  });

  it('does not make one side of an "or" of the other', async () => {
    for (const altered of await drawn('def test_tty():\n    assert f() is True or f() is False\n', 'test_tty')) {
      expect(altered).toBe('def test_tty():\n    assert not (f() is True or f() is False)\n');
    }
    for (const altered of await drawn('def test_any():\n    assert f() == 1 or f() == 2\n', 'test_any')) {
      const [, first = '', second = ''] = /^\s+assert f\(\) == (\d+) or f\(\) == (\d+)$/m.exec(altered) ?? [];
      expect(['1', '2']).not.toContain(first);
      expect(['1', '2']).not.toContain(second);
      if (first === '') expect(altered).toContain('assert not (f() == 1 or f() == 2)');
    }
  });
});
