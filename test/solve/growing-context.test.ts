import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { beforeEach, describe, expect, it } from 'vitest';
import { ContextGatherer } from '../../backend/context/gather-context.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import type { WorkPlace } from '../../backend/solve/step-work.ts';
import { shownFiles } from '../../backend/solve/shown-files.ts';
import { promptOf } from '../../backend/solve/step-prompt.ts';
import { workWithNeeds } from '../../backend/solve/work-with-needs.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { drivenRun, NO_TESTS, ONE_STEP } from './driven-run.ts';

/*
 * A question whose words stand in a README, in benchmarks and in examples, and not in the function that has to change: the first round is
 * sent everything but that function. The workspace, the search and the patches are real; models and verdicts are scripted.
 */

const QUESTION = 'A subrouter that is mounted twice breaks the benchmark of the middleware example.';
const PICK = 'export function pickHandler(table, verb) {\n  return table.handlers[verb] ?? table.fallback;\n}\n';
const TEST = `import test from 'node:test';
import assert from 'node:assert/strict';
import { pickHandler } from '../src/choice.js';

test('answers 405 for a verb that no entry has', () => {
  assert.equal(pickHandler({ handlers: {} }, 'PUT').status, 405);
});
`;
const RED = 'test/choice.test.js > answers 405 for a verb that no entry has';

let workspace: string;
const context = new ContextGatherer({ ripgrepPath: rgPath });

beforeEach(async () => {
  workspace = await temporaryFolder();
  const prose = (name: string): string => Array.from({ length: 90 }, (_, line) =>
    `${name} ${line}: a subrouter that is mounted twice, the middleware example, its benchmark and the wrong status`).join('\n');
  const files: Record<string, string> = { 'src/choice.js': PICK, 'test/choice.test.js': TEST, 'package.json': '{"type": "module"}', '.env': 'TOKEN=1' };
  for (let index = 0; index < 12; index += 1) {
    files[`bench/benchmark-${index}.js`] = `export function benchmarkMiddleware${index}() {\n  /*\n${prose('bench')}\n  */\n}\n`;
    files[`example/middleware-${index}.js`] = `export function subrouterExample${index}() {\n  /*\n${prose('example')}\n  */\n}\n`;
  }
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(workspace, file)), { recursive: true });
    await writeFile(path.join(workspace, file), text);
  }
});

const red = (): Verdict => ({
  verified: false, score: 0, outcome: 'failed', reason: 'Of 1 test that failed before, 1 still did not pass.', notes: [], command: 'node --test', sandboxed: true, durationMs: 1,
  tests: [{ id: RED, before: 'failed', after: 'failed', message: 'Cannot read properties of undefined (reading \'status\')' }],
});
const judging = (verify: Checker['verify']): Checker => ({
  ...NO_TESTS,
  parsePatch: (answer, folder, candidates) => parsePatch(answer, folder, { candidates }),
  verify,
  placesOf: async () => new Map([[RED, [{ path: 'test/choice.test.js', startLine: 5, endLine: 7 }]]]),
});
const options = (checker: Checker) => ({
  checker,
  gatherContext: (request: Parameters<ContextGatherer['gather']>[0]) => context.gather(request),
  workOf: (_: unknown, { files }: WorkPlace) => workWithNeeds(workspace, (request) => context.supply(request), files),
});
const WRONG = 'A guess:\n```js src/other.js\nexport const other = 1;\n```';
const RIGHT = '```js src/choice.js\nexport function pickHandler(table, verb) {\n  return table.handlers[verb] ?? { status: 405 };\n}\n```';
const request = () => ({ question: QUESTION, workspace, testCommand: 'node --test', rounds: 2 });

describe('after a red verdict', () => {
  it('the failing test and the function that it reaches come first in the next round, and what no step used makes room', async () => {
    const verdicts = [red(), { ...red(), verified: true, outcome: 'verified' as const, score: 1, tests: [] }];
    const run = await drivenRun([ONE_STEP, WRONG, ONE_STEP, RIGHT], request());
    const ended = await run.drive(options(judging(async () => verdicts.shift() ?? red())));
    expect(ended).toMatchObject({ state: 'completed', outcome: 'verified', answerRound: 1 });

    const [first, second] = ended.contexts;
    expect(first?.text).not.toContain('pickHandler');
    expect(first?.pieces.length).toBeGreaterThan(3);
    expect(second?.round).toBe(1);
    expect(second?.pieces.slice(0, 2)).toMatchObject([
      { path: 'test/choice.test.js', reason: expect.stringContaining('a test that fails with the last answer') }, { path: 'src/choice.js' },
    ]);
    const before = new Set(first?.pieces.map((piece) => piece.path));
    expect(before.has(second?.pieces[2]?.path ?? '')).toBe(false);
    expect(second?.text).toContain('?? table.fallback');
    expect(run.asked.map((texts) => texts.join('\n').includes('?? table.fallback'))).toEqual([false, false, true, true]);
    expect(ended.rounds.map(({ steps }) => steps[0]?.attempt?.context)).toEqual([0, 1]);
    expect(snapshotOf(run.events())).toEqual(ended);
  });

  it('each prompt can be shown as it was sent', async () => {
    const run = await drivenRun([ONE_STEP, WRONG, ONE_STEP, RIGHT], request());
    const ended = await run.drive(options(judging(async () => red())));
    expect([0, 1].map((round) => promptOf(ended, round, 0)?.map(({ content }) => content))).toEqual([run.asked[1], run.asked[3]]);
  });
});

describe('a step that lacks code', () => {
  const need = 'I cannot see that function.\nNEED: src/choice.js pickHandler\nNEED: .env';

  it('names it, is given it once with why the rest is not given, and is asked again', async () => {
    const run = await drivenRun([ONE_STEP, need, RIGHT], { ...request(), rounds: 1 });
    const ended = await run.drive(options(judging(async () => ({ ...red(), verified: true, outcome: 'verified', score: 1 }))));
    const [, , again = []] = run.asked;
    expect(run.asked[1]?.join('\n')).toContain('NEED: src/route.js Route.match');
    expect(again.at(-2)).toBe(need);
    expect(again.at(-1)).toContain('?? table.fallback');
    expect(again.at(-1)).toContain('.env: its name says that it holds secrets');
    expect(again.join('\n')).not.toContain('TOKEN=1');
    const [step] = ended.rounds[0]?.steps ?? [];
    expect(step).toMatchObject({ output: RIGHT, spent: { usd: expect.closeTo(0.02, 9) }, turns: [{ reply: need, pieces: [{ path: 'src/choice.js', startLine: 1, endLine: 3 }] }] });
    expect(shownFiles(ended, 0)).toContain('src/choice.js');
    expect(ended.rounds[0]?.answer?.edits).toMatchObject([{ path: 'src/choice.js', kind: 'modify' }]);
    expect(promptOf(ended, 0, 0)?.map(({ content }) => content)).toEqual(again);
  });

  it('is not given code twice: its second reply is the output, whatever it asks for', async () => {
    const run = await drivenRun([ONE_STEP, need, 'NEED: src/choice.js'], { ...request(), rounds: 1 });
    const ended = await run.drive(options(NO_TESTS));
    expect(ended).toMatchObject({ state: 'completed', rounds: [{ steps: [{ output: 'NEED: src/choice.js' }] }] });
  });

  it('is shown in the next round what it asked for in the one before', async () => {
    const run = await drivenRun([ONE_STEP, need, WRONG, ONE_STEP, RIGHT], request());
    const ended = await run.drive(options({ ...judging(async () => red()), placesOf: async () => new Map() }));
    expect(ended.contexts[1]?.pieces[0]).toMatchObject({ path: 'src/choice.js', reason: expect.stringContaining('a step asked for it') });
  });

  it('goes on after a crash without paying again, and with the context that it began with', async () => {
    const run = await drivenRun([ONE_STEP, need, RIGHT], { ...request(), rounds: 1 });
    const crash = new AbortController();
    await expect(run.drive({
      ...options(NO_TESTS), signal: crash.signal,
      workOf: (_, { files }) => workWithNeeds(workspace, async () => {
        crash.abort(new Error('killed'));
        throw crash.signal.reason;
      }, files),
    })).rejects.toThrow('killed');
    expect(run.asked).toHaveLength(2);
    const ended = await run.drive(options(NO_TESTS));
    expect(ended).toMatchObject({ state: 'completed', spent: { usd: expect.closeTo(0.03, 9) } });
    expect(run.asked[2]?.[0]).toBe(run.asked[1]?.[0]);
  });

  it('of a training is not told that it may ask', async () => {
    const run = await drivenRun([ONE_STEP, RIGHT], { ...request(), rounds: 1, kind: 'rollout' });
    await run.drive({ ...options(judging(async () => red())), workOf: undefined });
    expect(run.asked.flat().join('\n')).not.toContain('NEED:');
  });
});
