import { describe, expect, test } from 'vitest';
import { blockAt } from '../../backend/context/block-at.ts';
import { extensionOf, isTestPath } from '../../backend/context/file-names.ts';
import { definitionsIn } from '../../backend/context/symbols/definitions-in.ts';

/** The names that a line defines, with a body below it. */
const defined = (file: string, line: string): string[] => definitionsIn(file, [line, '{', '}']).map(({ name }) => name);

describe('a line defines a name', () => {
  test.each([
    ['a.ts', 'export async function find<T>(x: T) {'], ['a.ts', 'const find = (x) => x;'],
    ['a.ts', '  async find(x: number): void {'],
    ['a.ts', 'export interface find {'], ['a.js', '  find: function (x) {'], ['a.js', '  static find(x) {'],
    ['a.tsx', 'let find = async x => {'], ['a.py', '    def find(self):'], ['a.py', 'find = 3'], ['a.py', 'class find(Base):'],
    ['a.go', 'func (s *Server) find(x int) error {'], ['a.go', 'type find struct {'], ['a.rs', 'pub(crate) fn find(x: u8) {'],
    ['a.java', '  public static List<String> find(int x) {'], ['a.kt', 'fun find(x: Int) = x'],
    ['a.cs', '  Task<int> find(int x)'],
    ['a.c', 'static int *find(const char *x)'], ['a.cpp', 'void Tree::find(int x) {'], ['a.h', '#define find(x) (x)'],
    ['a.rb', '  def self.find(x)'], ['a.php', 'function find($x) {'], ['a.sh', 'find() {'], ['a.sql', 'create TABLE find ('],
  ])('in %s: %s', (file, line) => expect(defined(file, line)).toEqual(['find']));
});

describe('a line only uses a name', () => {
  test.each([
    ['a.ts', '  return find(x);'], ['a.ts', 'if (find(x)) {'], ['a.ts', "import { find } from './find';"],
    ['a.ts', 'const other = find(x);'], ['a.ts', 'function findAll() {'], ['a.ts', '// find'], ['a.py', 'x = find(1)'],
    ['a.py', 'if find == 3:'],
    ['a.go', 'x := find(1)'], ['a.java', '  return find(x);'], ['a.c', '  find(x);'], ['a.txt', 'function find() {'],
    ['a.rb', 'find == 1'],
  ])('in %s: %s', (file, line) => expect(defined(file, line)).not.toContain('find'));
});

describe('the block that begins at a line', () => {
  const block = (text: string, line: number): string => {
    const lines = text.split('\n');
    const { start, end } = blockAt(lines, line);
    return lines.slice(start - 1, end).join('\n');
  };
  const script = '/** Doc. */\nexport function f(\n  a,\n): void {\n  if (a) {\n  }\n\n  more();\n}\n\nfunction g() {}';
  const python = 'x = 1\n\n@cached\ndef f(a):\n    return a\n\n    # end\n\ndef g(): pass';

  test('goes from its comment to its closing bracket', () => {
    expect(block(script, 2)).toBe(script.split('\n').slice(0, 9).join('\n'));
  });
  test('goes from its decorator to the end of its indentation', () => {
    expect(block(python, 4)).toBe('@cached\ndef f(a):\n    return a\n\n    # end');
  });
  test('of one line is that line', () => expect(block(script, 11)).toBe('function g() {}'));
  test('of the last line, and of a line that is not there, is no more than that', () => {
    expect(blockAt(['a', 'b'], 2)).toEqual({ start: 2, end: 2 });
    expect(blockAt([], 1)).toEqual({ start: 1, end: 1 });
  });
  test('ends after a bounded number of lines', () => {
    const { end } = blockAt(['f() {', ...Array<string>(1_000).fill('  x')], 1);
    expect(end).toBeLessThan(100);
  });
});

test('names of files say what they are', () => {
  expect(['a.test.ts', 'x/.npmrc', 'Makefile', 'A.JS'].map(extensionOf)).toEqual(['ts', '', '', 'js']);
  const tests = ['test/a.js', 'src/a.test.ts', 'a_test.go', 'tests/x.py', 'test_a.py', 'spec/a.rb', 'ATest.java', 'a-spec.js'];
  expect(tests.filter(isTestPath)).toEqual(tests);
  expect(['src/a.js', 'contest.js', 'latest/a.js', 'testing.md'].filter(isTestPath)).toEqual([]);
});
