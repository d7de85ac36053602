import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Asks } from '../../backend/protocol/run-events.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { drivenRun, NO_TESTS, ONE_STEP } from './driven-run.ts';

/* Answers that bring tests: what of them is judged and offered. */

const FIX = '```js src/a.js\nexport const a = 2;\n```\n';
const TEST = '```js test/a.test.js\nimport "../src/a.js";\n```\n';
const PASSES = { verified: false, score: 0, outcome: 'passes', reason: 'Green.', tests: [], notes: [], command: 'node --test', sandboxed: true, durationMs: 1 } as const;

async function ask(answer: string, asks?: Asks): Promise<{ run: Awaited<ReturnType<Awaited<ReturnType<typeof drivenRun>>['drive']>>; judged: Parameters<Checker['verify']>[0][] }> {
  const workspace = await temporaryFolder();
  await mkdir(path.join(workspace, 'src'));
  await writeFile(path.join(workspace, 'src/a.js'), 'export const a = 1;\n');
  const judged: Parameters<Checker['verify']>[0][] = [];
  const { drive } = await drivenRun([ONE_STEP, answer], { workspace, ...(asks && { asks }) });
  const run = await drive({
    checker: {
      ...NO_TESTS,
      findTestCommands: async () => [{ command: 'node --test', runner: 'node-test', folder: workspace }],
      parsePatch: (text, folder, shown, { newTests } = { newTests: false }) => parsePatch(text, folder, { candidates: shown, newTests }),
      verify: async (request) => {
        judged.push(request);
        return PASSES;
      },
    },
  });
  return { run, judged };
}

it('tests that nobody asked for are left out, which is said, and the rest is judged and offered', async () => {
  const { run, judged } = await ask(FIX + TEST);
  expect(run.rounds).toHaveLength(1);
  expect(run).toMatchObject({
    outcome: 'passes',
    rounds: [{ answer: { edits: [{ path: 'src/a.js' }], refused: [], leftOut: [{ path: 'test/a.test.js', reason: 'Tests are the judge and stay as they are.' }] } }],
  });
  expect(judged).toHaveLength(1);
  expect(judged[0]?.patch.edits.map(({ path: file }) => file)).toEqual(['src/a.js']);
  expect(judged[0]).toMatchObject({ nothingFailed: 'run' });
  expect(judged[0]?.newTests).toBeUndefined();
});

it('an answer of nothing but such tests stays refused', async () => {
  const { run, judged } = await ask(TEST);
  expect(run.rounds[0]?.answer).toMatchObject({ edits: [], refused: [{ path: 'test/a.test.js' }] });
  expect(judged).toEqual([]);
});

it.each([
  [{ kind: 'bug', wants: 'change', tests: true }, 'beside'],
  [{ kind: 'tests', wants: 'change', tests: true }, 'alone'],
  // As earlier versions wrote it.
  [{ kind: 'tests', wants: 'change' }, 'alone'],
] as const)('tests that are asked for are part of the change: %o', async (asks, newTests) => {
  const { run, judged } = await ask(FIX + TEST, asks);
  expect(run.rounds[0]?.answer?.leftOut).toBeUndefined();
  expect(judged[0]?.newTests).toBe(newTests);
  expect(judged[0]?.patch.edits.map(({ path: file }) => file)).toEqual(['src/a.js', 'test/a.test.js']);
});
