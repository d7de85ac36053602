import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { findMatches } from '../../backend/context/find-matches.ts';
import { Ripgrep } from '../../backend/context/ripgrep.ts';
import { Workspace } from '../../backend/context/workspace.ts';
import { workspaceWith } from './workspaces.ts';

const signal = new AbortController().signal;

async function find(names: readonly string[], maxOutputLength: number) {
  const many = Array.from({ length: 150 }, (_, index) => [`a/many${index}.js`, 'useCommonName();\n'.repeat(20)]);
  const folder = workspaceWith({ ...Object.fromEntries(many), 'z.js': 'useRareName();\n' });
  const workspace = await Workspace.open(folder, new Ripgrep(rgPath), signal);
  if (!workspace) throw new Error('There is no workspace.');
  const ripgrep = new Ripgrep(rgPath, { timeoutMs: 60_000, maxOutputLength });
  const terms = { identifiers: names.map((text) => ({ text, weight: 1 })), words: [] };
  return findMatches({ workspace, ripgrep, terms, asked: [], signal });
}

test('matches come in the order of paths and lines', async () => {
  const { matches, problem } = await find(['useRareName', 'useCommonName'], 16_000_000);
  expect(matches).toHaveLength(150 * 20 + 1);
  expect(matches.at(-1)).toEqual({ path: 'z.js', line: 1, text: 'useRareName();' });
  const order = matches.map(({ path, line }) => `${path}:${String(line).padStart(3, '0')}`);
  expect(order).toEqual([...order].sort());
  expect(problem).toBeUndefined();
});

test('a name that floods the search is given up, so that the rare one is still found', async () => {
  const { matches, problem } = await find(['useRareName', 'useCommonName'], 600_000);
  expect(matches.map(({ path }) => path)).toEqual(['z.js']);
  expect(problem).toBeUndefined();
});

test('a search that prints too much for names that are not common keeps what it has and says so', async () => {
  const { matches, problem } = await find(['useCommonName'], 50_000);
  expect(matches.length).toBeGreaterThan(0);
  expect(problem).toMatch(/part of the workspace was not searched/);
});
