import { describe, expect, it } from 'vitest';
import { addsTests, whyItChangesTests } from '../../../backend/verify/patch/added-tests.ts';

/* What may be added to a file of tests, and what would reach into the tests that are there. */

const FILES = {
  'tests/test_a.py': `import pytest
from shop import total

RATE = 2

class TestTotal:
    def test_none(self):
        assert total([]) == 0

@pytest.mark.parametrize("n", [1, 2])
def test_some(n):
    assert total([n]) == n * RATE
`,
  'test/a.test.ts': `import { describe, it, expect } from 'vitest';
import { total } from '../src/shop';

describe('total', () => {
  const rate = 2;
  it('of nothing', () => {
    expect(total([])).toBe(0 * rate);
  });
});
`,
  'test/a.test.js': `const assert = require('assert');
const { total } = require('..');

API('of nothing', () => { assert.equal(total([]), 0); });
API.run();
`,
  'shop_test.go': `package shop

import (
	"testing"
)

func TestTotal(t *testing.T) {
	if Total(nil) != 0 {
		t.Fatal("not nothing")
	}
}
`,
  'tests/total.rs': `use shop::total;

#[test]
fn of_nothing() {
    assert_eq!(total(&[]), 0);
}

mod more {
    use super::*;
    #[test]
    fn of_one() { assert_eq!(total(&[1]), 1); }
}
`,
  'src/test/java/TotalTest.java': `import org.junit.jupiter.api.Test;

class TotalTest {
  @Test
  void ofNothing() { assertEquals(0, Shop.total()); }
}
`,
} as const;

type File = keyof typeof FILES;
const whyOf = (path: File, ...changes: readonly [string, string][]): Promise<string | undefined> => {
  const before = FILES[path];
  const after = changes.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, () => to);
  }, before as string);
  return whyItChangesTests({ path, before, after });
};
const END = '\u0000';
const added = (path: File, text: string): Promise<string | undefined> => whyItChangesTests({ path, before: FILES[path], after: text.includes(END) ? text.replace(END, () => FILES[path]) : FILES[path] + text });

describe('is added', () => {
  it.each<[File, ...[string, string][]]>([
    ['tests/test_a.py', ['@pytest.mark.param', 'def test_new():\n    assert total([1]) == 2\n\n\n@pytest.mark.param']],
    ['tests/test_a.py', ['        assert total([]) == 0\n', '        assert total([]) == 0\n\n    def test_more(self):\n        assert total([3]) == 6\n']],
    ['tests/test_a.py', ['from shop import total', 'from shop import (\n    Item,\n    total,\n)'], ['RATE = 2', 'RATE = 2\nOTHER = [Item(1)]']],
    ['tests/test_a.py', ['class TestTotal', '@pytest.fixture\ndef item():\n    return 1\n\n\nclass TestOther:\n    def test_none(self, item):\n        assert item\n\nclass TestTotal']],
    ['test/a.test.ts', ['  });\n});', "  });\n\n  it.each([1, 2])('of %i', (n) => {\n    expect(total([n])).toBe(n);\n  });\n});"]],
    ['test/a.test.ts', ['import { total }', 'import { total, type Item }'], ['  const rate = 2;', '  const rate = 2;\n  const item: Item = 1;']],
    ['test/a.test.ts', ["describe('total'", "// Another.\ndescribe('other', () => {\n  beforeEach(() => {});\n  test('x', async () => {});\n});\n\ndescribe('total'"]],
    ['test/a.test.js', ['API.run', "API('of one', () => { assert.equal(total([1]), 1); });\nAPI.run"], ['{ total }', '{ total, other }']],
    ['shop_test.go', ['\t"testing"\n', '\t"errors"\n\t"testing"\n'], ['func TestTotal', 'type item struct{}\n\nfunc (i item) price() int { return 1 }\n\nvar errOther = errors.New("x")\n\nfunc TestOther(t *testing.T) {}\n\nfunc TestTotal']],
    ['tests/total.rs', ['use shop::total;', 'use shop::{total, Item};'], ['mod more', '#[test]\n#[should_panic]\nfn of_all() { total(&[9]); }\n\nmod more']],
    ['tests/total.rs', ['    #[test]\n    fn of_one', '    #[test]\n    fn of_two() {}\n    #[test]\n    fn of_one']],
    ['src/test/java/TotalTest.java', ['  @Test\n  void ofN', '  @Test\n  void ofOne() { assertEquals(1, Shop.total(1)); }\n\n  @Test\n  void ofN']],
  ])('a test, and what it needs: %s %j', async (path, ...changes) => {
    expect(await whyOf(path, ...changes)).toBeUndefined();
  });

  it('as well to a file with the line ends of Windows', async () => {
    const path = 'shop_test.go';
    const before = FILES[path].replaceAll('\n', '\r\n');
    expect(await addsTests({ path, kind: 'modify', before, after: `${before}\r\nfunc TestMore(t *testing.T) {}\r\n` })).toBe(true);
  });

  it('a file of tests, or of their data', async () => {
    expect(await addsTests({ path: 'tests/data/a.json', kind: 'create', before: null, after: '{}' })).toBe(true);
    expect(await addsTests({ path: 'src/a.js', kind: 'create', before: null, after: '1;' })).toBe(false);
  });
});

describe('is refused', () => {
  it.each<[File, ...[string, string][]]>([
    ['tests/test_a.py', ['== 0', '== 1']],
    ['tests/test_a.py', ['RATE = 2', 'RATE = 3']],
    ['tests/test_a.py', ['[1, 2]', '[1]']],
    ['tests/test_a.py', ['    def test_none', '    @pytest.mark.skip\n    def test_none']],
    ['tests/test_a.py', ['class TestTotal', '@pytest.mark.skip\nclass TestTotal']],
    ['tests/test_a.py', ['from shop import total\n', '']],
    ['tests/test_a.py', ['from shop import total', 'from other import total']],
    ['tests/test_a.py', ['        assert total([]) == 0', '        return\n        assert total([]) == 0']],
    ['test/a.test.ts', ['toBe(0 * rate)', 'toBeDefined()']],
    ['test/a.test.ts', ["it('of n", "it.skip('of n"]],
    ['test/a.test.ts', ["describe('total'", "describe.skip('total'"]],
    ['test/a.test.ts', ["describe('total'", "if (false) describe('total'"]],
    ['test/a.test.ts', ["describe('total'", "describe.skip('all', () => {\ndescribe('total'"], ['});\n});\n', '});\n});\n});\n']],
    ['shop_test.go', ['\tif Total', '\tt.Skip()\n\tif Total']],
    ['tests/total.rs', ['#[test]\nfn of_nothing', '#[test]\n#[ignore]\nfn of_nothing']],
    ['tests/total.rs', ['mod more', '#[cfg(never)]\nmod more']],
    ['src/test/java/TotalTest.java', ['@Test\n', '@Test @Disabled\n']],
  ])('what alters a test that is there: %s %j', async (path, ...changes) => {
    expect(await whyOf(path, ...changes)).toMatch(/^Tests that are there stay as they are, and /);
  });

  it.each<[File, string]>([
    ['tests/test_a.py', '\ndef total(items):\n    return 0\n'],
    ['tests/test_a.py', '\nclass TestTotal:\n    pass\n'],
    ['tests/test_a.py', `\nfrom other import total\n`],
    ['test/a.test.ts', 'function expect() { return { toBe() {} }; }\n'],
    ['test/a.test.ts', "import { expect } from './lax';\n"],
    ['tests/total.rs', 'macro_rules! assert_eq { ($($x:tt)*) => {} }\n'],
    ['tests/total.rs', 'use lax::assert_eq;\n'],
    ['shop_test.go', '\nfunc Total(items []int) int { return 0 }\n'],
    ['shop_test.go', '\nvar _ = disarm()\n'],
  ])('a name that stands for something else already: %s %s', async (path, text) => {
    expect(await added(path, text)).toMatch(/name of its own|nothing that acts on the others/);
  });

  it.each<[File, string]>([
    ['tests/test_a.py', '\npytestmark = pytest.mark.skip\n'],
    ['tests/test_a.py', '\ntotal.__code__ = None\n'],
    ['tests/test_a.py', '\nif True:\n    raise SystemExit\n'],
    ['tests/test_a.py', '\n@pytest.fixture(autouse=True)\ndef calm():\n    pass\n'],
    ['tests/test_a.py', '\ndef setup_module():\n    pass\n'],
    ['tests/test_a.py', '\nfrom lax import *\n'],
    ['test/a.test.ts', "beforeEach(() => { vi.restoreAllMocks(); });\n"],
    ['test/a.test.ts', "vi.mock('../src/shop', () => ({}));\n"],
    ['test/a.test.ts', "it.only('x', () => {});\n"],
    ['test/a.test.ts', "import './lax';\n"],
    ['test/a.test.ts', `// @vitest-environment node\n${END}`],
    ['test/a.test.ts', 'process.exit(0);\n'],
    ['test/a.test.ts', `return;\n${END}`],
    ['shop_test.go', `//go:build never\n\n${END}`],
    ['shop_test.go', '\nfunc init() {}\n'],
    ['shop_test.go', '\nfunc TestMain(m *testing.M) {}\n'],
    ['tests/total.rs', 'include!("lax.rs");\n'],
  ])('what acts on the others: %s %s', async (path, text) => {
    expect(await added(path, text)).toMatch(/^To a file of tests only /);
  });

  it('what cannot be told: data, a file without a grammar, one that is no program, one that is removed', async () => {
    expect(await whyItChangesTests({ path: 'tests/data.json', before: '[1]', after: '[1, 2]' })).toBe('Tests that are there stay as they are.');
    expect(await whyItChangesTests({ path: 'test/fixtures/a.js', before: 'let a;\n', after: 'let a;\nlet b;\n' })).toBe('Tests that are there stay as they are.');
    expect(await whyItChangesTests({ path: 'test/a_test.exs', before: 'a\n', after: 'a\nb\n' })).toBe('Tests that are there stay as they are.');
    expect(await whyItChangesTests({ path: 'test/a.test.ts', before: FILES['test/a.test.ts'], after: null })).toBe('Tests that are there stay as they are.');
    expect(await added('test/a.test.ts', 'it("x", () => {\n')).toMatch(/cannot be parsed/);
  });
});
