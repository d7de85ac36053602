import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { budgetSchema, workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { failureOf } from '../../backend/solve/failure.ts';
import type { RunCall } from '../../backend/solve/round-driver.ts';
import { RunDriver } from '../../backend/solve/run-driver.ts';
import { RunRecorder } from '../../backend/solve/run-recorder.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { BudgetSpentError } from '../../backend/workers/errors.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PLAN = 'model_id = [0]\nsubtasks = ["Change it."]\naccess_list = [[]]';
const UNREADABLE = 'src/a.js\n```\n<<<<<<< SEARCH\nnothing like this\n=======\nb();\n>>>>>>> REPLACE\n```\n';
const READABLE = '```js src/a.js\nexport const a = 2;\n```\n';
const usage = { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, estimated: false };
const worker = workerConfigSchema.parse({ id: 'w', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' });
const checker: Checker = {
  findTestCommands: async () => [],
  runnerOf: async () => undefined,
  sandboxAvailability: async () => ({ available: true }),
  parsePatch: (answer, workspace, shown) => parsePatch(answer, workspace, { candidates: shown }),
  verify: () => Promise.reject(new Error('nothing to verify')),
};

type Reply = string | Error | { readonly text: string; readonly finishReason: 'length' };

/** A run in a real folder, whose models answer as told. `drive` goes on with it, as after a crash. */
async function aRun(replies: readonly Reply[]): Promise<{ asked: string[][]; drive: (signal?: AbortSignal, onCall?: (number: number) => void) => Promise<RunSnapshot> }> {
  const folder = await temporaryFolder();
  await mkdir(path.join(folder, 'src'));
  await writeFile(path.join(folder, 'src/a.js'), 'export const a = 1;\n');
  const journal = Journal.open(path.join(await temporaryFolder(), 'journal.sqlite'));
  journal.accept('r', {
    type: 'run.accepted', kind: 'solve', request: runRequestSchema.parse({ question: 'Change a to 2.', rounds: 1, workspace: folder }), pool: [worker],
    policy: { kind: 'endpoint', worker, model: 'm', promptVersion: '1' }, budget: budgetSchema.parse({}),
  });
  const asked: string[][] = [];
  return {
    asked,
    drive: async (signal = new AbortController().signal, onCall = () => undefined) => {
      const recorder = new RunRecorder(snapshotOf(journal.read('r')), { append: (events, effects) => journal.append('r', events, effects) }, { onEvent: () => {}, onText: () => {} });
      const call: RunCall = async (_worker, { messages }, { attempts }) => {
        onCall(asked.length);
        signal.throwIfAborted();
        const said = replies[asked.length];
        asked.push(messages.map(({ content }) => content));
        if (said === undefined || said instanceof Error) throw said ?? new Error('No more replies.');
        const reply = { finishReason: 'stop' as const, ...(typeof said === 'string' ? { text: said } : said), usage, model: 'm' };
        attempts.remembered(reply, { usage, cost: { usd: 0.01, estimated: false }, durationMs: 1 });
        return reply;
      };
      await new RunDriver({
        recorder, call, failureOf, signal, checker,
        ledger: { reserve: () => ({ id: 'none' }) },
        gatherContext: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
        confirmUnsandboxed: async () => false,
      }).drive();
      expect(snapshotOf(journal.read('r'))).toEqual(recorder.snapshot);
      return recorder.snapshot;
    },
  };
}

it('an answer that cannot be read is given back once, with what is wrong with it, and what comes then is the answer', async () => {
  const { asked, drive } = await aRun([PLAN, UNREADABLE, READABLE]);
  const run = await drive();
  expect(asked).toHaveLength(3);
  expect(asked[2]?.slice(-2)).toEqual([UNREADABLE, expect.stringMatching(/^Your answer cannot be applied.*src\/a\.js: The text to search for is not in the file/)]);
  expect(run.rounds[0]).toMatchObject({
    answer: { edits: [{ path: 'src/a.js' }], refused: [] },
    steps: [{ state: 'completed', output: READABLE, returned: { isAnswered: true }, turns: [{ reply: UNREADABLE }] }],
  });
  expect(run).toMatchObject({ state: 'completed', spent: { usd: expect.closeTo(0.03, 9) } });
});

it('what cannot be read the second time either is said at the end, and not that no file is changed', async () => {
  const { asked, drive } = await aRun([PLAN, UNREADABLE, UNREADABLE]);
  const run = await drive();
  expect(asked).toHaveLength(3);
  expect(run).toMatchObject({ state: 'completed', outcome: 'not-verified', message: expect.stringContaining('src/a.js') });
  expect(run.message).toMatch(/could not be read/);
  expect(run.message).not.toMatch(/changes no file|refused/);
});

it('a second answer without any change does not hide what the first one meant', async () => {
  const run = await (await aRun([PLAN, UNREADABLE, 'I am sorry.'])).drive();
  expect(run).toMatchObject({ outcome: 'not-verified', rounds: [{ answer: { refused: [{ path: 'src/a.js' }] } }] });
});

it('where the budget does not hold a second call, the first answer stays and what cannot be read is said', async () => {
  const run = await (await aRun([PLAN, UNREADABLE, new BudgetSpentError('run', 'The budget is spent.')])).drive();
  expect(run).toMatchObject({
    state: 'completed', outcome: 'not-verified',
    rounds: [{ answer: { refused: [{ path: 'src/a.js' }] }, steps: [{ state: 'completed', output: UNREADABLE }] }],
  });
});

it('where the worker fails the second time, the first answer stays', async () => {
  const run = await (await aRun([PLAN, UNREADABLE, new Error('unreachable')])).drive();
  expect(run).toMatchObject({ state: 'completed', rounds: [{ steps: [{ state: 'completed', output: UNREADABLE }] }] });
  expect(run.rounds[0]?.steps[0]?.failure).toBeUndefined();
});

it('a run that is killed while the answer is given back asks once more and pays for no answer twice', async () => {
  const { asked, drive } = await aRun([PLAN, UNREADABLE, READABLE]);
  const crash = new AbortController();
  await expect(drive(crash.signal, (number) => {
    if (number === 2) crash.abort(new Error('killed'));
  })).rejects.toThrow('killed');
  expect(asked).toHaveLength(2);
  const run = await drive();
  expect(asked).toHaveLength(3);
  expect(run).toMatchObject({ state: 'completed', spent: { usd: expect.closeTo(0.03, 9) }, rounds: [{ answer: { edits: [{ path: 'src/a.js' }] } }] });
});

it.each([
  ['an explanation with a snippet', 'It works like this:\n\n```js\nconst b = a + 1;\n```\n'],
  ['an edit of a protected file', '```json package.json\n{}\n```\n'],
  ['an answer that can be read', READABLE],
])('%s is not given back', async (_, answer) => {
  const { asked, drive } = await aRun([PLAN, answer]);
  await drive();
  expect(asked).toHaveLength(2);
});

const CUT = 'Change the constant:\n```js\nexport const a';

it.each([
  ['at the limit of its output', { text: 'First I look at the constant, which', finishReason: 'length' as const }],
  ['inside a block of code', CUT],
])('an answer that was cut off %s is given back once, to be written shorter', async (_, cut) => {
  const { asked, drive } = await aRun([PLAN, cut, READABLE]);
  const run = await drive();
  expect(asked[2]?.at(-1)).toMatch(/^Your answer was cut off before its end.*short enough to be whole/);
  expect(run.rounds[0]).toMatchObject({ answer: { edits: [{ path: 'src/a.js' }], refused: [] } });
});

it('an answer that is cut off twice is said to be cut off, and not that it changes no file', async () => {
  const { asked, drive } = await aRun([PLAN, CUT, CUT]);
  const run = await drive();
  expect(asked).toHaveLength(3);
  expect(run.message).toMatch(/cut off/);
});
