import { expect, test } from 'vitest';
import { languagesOf } from '../../backend/context/languages.ts';
import { gather, workspaceWith } from './workspaces.ts';

const files = (count: number, ending: string, folder = 'src'): string[] => Array.from({ length: count }, (_, index) => `${folder}/${index}${ending}`);

test('are those of the source and test files, the most frequent first', () => {
  expect(languagesOf([...files(3, '.py'), ...files(5, '.ts'), ...files(2, '.tsx'), ...files(4, '.test.py', 'test')])).toEqual(['Python', 'TypeScript']);
});

test('do not count what is generated, built, configured or written about', () => {
  expect(languagesOf([...files(90, '.js', 'dist'), ...files(90, '.md', 'docs'), 'eslint.config.js', 'package-lock.json', ...files(2, '.go')])).toEqual(['Go']);
  expect(languagesOf(['README.md', 'LICENSE', 'data.csv'])).toEqual([]);
});

test('are at most three, without those that hardly occur', () => {
  expect(languagesOf([...files(40, '.c'), ...files(30, '.rs'), ...files(20, '.lua'), ...files(15, '.rb'), ...files(3, '.sh')])).toEqual(['C', 'Rust', 'Lua']);
  expect(languagesOf([...files(1, '.py'), ...files(30, '.java')])).toEqual(['Java']);
});

test('are found among many files as among few', () => {
  expect(languagesOf([...files(70_000, '.java', 'a'), ...files(30_000, '.kt', 'b')])).toEqual(['Java', 'Kotlin']);
});

test('come with the context of a workspace, and are absent without one', async () => {
  expect((await gather(workspaceWith({ 'a.rs': 'fn a() {}\n', 'target.txt': 'x' }), {})).languages).toEqual(['Rust']);
  expect((await gather(undefined, {})).languages).toBeUndefined();
});
