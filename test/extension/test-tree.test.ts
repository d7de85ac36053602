import { describe, expect, it } from 'vitest';
import type { TestChange } from '../../backend/protocol/verdict.ts';
import { testTree, type TestNode } from '../../extension/tests/test-tree.ts';

const test = (id: string): TestChange => ({ id, before: 'failed', after: 'passed' });

function outline(nodes: readonly TestNode[], depth = 0): string[] {
  return nodes.flatMap(({ name, test, children }) =>
    [`${'  '.repeat(depth)}${name}${test ? ' *' : ''}`, ...outline(children, depth + 1)]);
}

describe('the tree of tests', () => {
  it('stands by file, suites and name', () => {
    expect(outline(testTree([
      test('test/merge.test.ts > merge > keeps the outer'), test('test/merge.test.ts > merge > joins'), test('test/sort.test.ts > sorts'),
    ]))).toEqual([
      'test/merge.test.ts', '  merge', '    keeps the outer *', '    joins *',
      'test/sort.test.ts', '  sorts *',
    ]);
  });

  it('lets a test hold others, as subtests stand in theirs', () => {
    expect(outline(testTree([test('pkg > TestAll'), test('pkg > TestAll > first')]))).toEqual(['pkg', '  TestAll *', '    first *']);
  });

  it('has a place for a test without a file, and for names that are words of the language', () => {
    expect(outline(testTree([test('alone'), test('__proto__ > constructor')]))).toEqual(['alone *', '__proto__', '  constructor *']);
  });

  it('ends at a depth that can be shown', () => {
    const deep = Array.from({ length: 20_000 }, (_, index) => `level ${index}`).join(' > ');
    const lines = outline(testTree([test(deep)]));
    expect(lines).toHaveLength(16);
    expect(lines.at(-1)).toContain('level 19999');
  });
});
