import { describe, expect, it } from 'vitest';
import { emptiedFunctions } from '../../../backend/train/tasks/emptied-functions.ts';
import { mutations } from '../../../backend/train/tasks/mutations.ts';

const SOURCES = {
  'a.py': ['def add(a, b):\n    """Adds."""\n    c = a + b\n    return c\n\n\ndef one():\n    return 1\n', 'def add(a, b):\n    """Adds."""\n    raise NotImplementedError\n\n\ndef one():\n    return 1\n'],
  'a.js': ['export function add(a, b) {\n  const c = a + b;\n  return c;\n}\n', 'export function add(a, b) {\n  throw new Error(\'not written yet\');\n}\n'],
  'b.js': ['const add = (a, b) => {\n    const c = a + b;\n    return c;\n};\n', 'const add = (a, b) => {\n    throw new Error(\'not written yet\');\n};\n'],
  'a.ts': ['class A {\n  add(a: number, b: number): number {\n    const c = a + b;\n    return c;\n  }\n}\n', 'class A {\n  add(a: number, b: number): number {\n    throw new Error(\'not written yet\');\n  }\n}\n'],
  'a.go': ['package a\n\nfunc Add(a, b int) int {\n\tc := a + b\n\treturn c\n}\n', 'package a\n\nfunc Add(a, b int) int {\n\tpanic("not written yet")\n}\n'],
  'a.rs': ['pub fn add(a: i32, b: i32) -> i32 {\n    let c = a + b;\n    c\n}\n', 'pub fn add(a: i32, b: i32) -> i32 {\n    todo!()\n}\n'],
  'A.java': ['class A {\n  int add(int a, int b) {\n    int c = a + b;\n    return c;\n  }\n}\n', 'class A {\n  int add(int a, int b) {\n    throw new UnsupportedOperationException("not written yet");\n  }\n}\n'],
  'a.rb': ['class A\n  # Adds.\n  def add(a, b)\n    c = a + b\n    c\n  end\nend\n', 'class A\n  # Adds.\n  def add(a, b)\n    raise \'not written yet\'\n  end\nend\n'],
} as const;

describe('a function', () => {
  it.each(Object.entries(SOURCES))('of %s is emptied, and its signature and what is said of it stay', async (path, [text, emptied]) => {
    expect(await emptiedFunctions(path, text)).toEqual([{ name: path === 'a.go' ? 'Add' : 'add', text: emptied, lines: 2 }]);
  });

  it('of a language that is not known, or that does not follow its grammar, is left alone', async () => {
    expect(await emptiedFunctions('a.txt', 'def f():\n  a\n  b\n')).toEqual([]);
    expect(await emptiedFunctions('a.py', 'def f(:\n  a\n  b\n')).toEqual([]);
  });
});

describe('a mutation', () => {
  it.each(Object.entries(SOURCES))('of %s swaps what is easily mistaken', async (path, [text]) => {
    const changed = await mutations(path, text);
    expect(changed.map((mutation) => mutation.text)).toContain(text.replace('a + b', 'a - b'));
    expect(changed.every((mutation) => mutation.text !== text)).toBe(true);
  });

  it('is made of comparisons, numbers, truth values and loops, one at a time, and says on which line', async () => {
    const text = 'def f(xs):\n    for x in xs:\n        if x < 3 and x != 0:\n            break\n    return max(xs), True\n';
    expect((await mutations('a.py', text)).map((mutation) => [mutation.line, mutation.text.split('\n')[mutation.line - 1]!.trim()])).toEqual([
      [3, 'if x < 3 or x != 0:'], [3, 'if x <= 3 and x != 0:'], [3, 'if x < 4 and x != 0:'], [3, 'if x < 3 and x == 0:'], [3, 'if x < 3 and x != 1:'],
      [4, 'continue'], [5, 'return min(xs), True'], [5, 'return max(xs), False'],
    ]);
  });
});
