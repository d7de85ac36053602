import path from 'node:path';
import { expect, it } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import { budgetSchema, workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { failureOf } from '../../backend/solve/failure.ts';
import type { RunCall } from '../../backend/solve/round-driver.ts';
import { RunDriver } from '../../backend/solve/run-driver.ts';
import { RunRecorder } from '../../backend/solve/run-recorder.ts';
import type { StepWork } from '../../backend/solve/step-work.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PLAN = 'model_id = [0]\nsubtasks = ["Answer."]\naccess_list = [[]]';
const usage = { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, estimated: false };
const worker = workerConfigSchema.parse({ id: 'w', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' });
const NO_TESTS: Checker = {
  findTestCommands: async () => [],
  runnerOf: async () => undefined,
  sandboxAvailability: async () => ({ available: true }),
  parsePatch: async () => ({ edits: [], refused: [] }),
  verify: () => Promise.reject(new Error('nothing to verify')),
};

/** Replies that begin with LOOK ask for something; any other is the output. */
const looking = (observe: StepWork['observe']): StepWork => ({
  request: (messages, turns) => ({
    messages: [...messages, ...turns.flatMap(({ reply, observation }) => [
      { role: 'assistant' as const, content: reply }, { role: 'user' as const, content: observation },
    ])],
  }),
  isOutput: ({ text }) => !text.startsWith('LOOK'),
  observe,
});

it('a step of several turns is journalled turn by turn, and goes on after a crash without paying for a turn again', async () => {
  const journal = Journal.open(path.join(await temporaryFolder(), 'journal.sqlite'));
  journal.accept('r', {
    type: 'run.accepted', kind: 'solve', request: runRequestSchema.parse({ question: 'Why?', rounds: 1 }), pool: [worker],
    policy: { kind: 'endpoint', worker, model: 'm', promptVersion: '1' }, budget: budgetSchema.parse({}),
  });
  const asked: string[][] = [];
  const replies = [PLAN, 'LOOK at a.js', 'LOOK at b.js', 'It is the constant.'];
  const call: RunCall = async (_worker, { messages }, { attempts }) => {
    const text = replies[asked.length] as string;
    asked.push(messages.map(({ content }) => content));
    const reply = { text, finishReason: 'stop' as const, usage, model: 'm' };
    attempts.remembered(reply, { usage, cost: { usd: 0.01, estimated: false }, durationMs: 1 });
    return reply;
  };
  const drive = async (signal: AbortSignal, observe: StepWork['observe']) => {
    const recorder = new RunRecorder(snapshotOf(journal.read('r')), { append: (events, effects) => journal.append('r', events, effects) }, {
      onEvent: () => {}, onText: () => {},
    });
    await new RunDriver({
      recorder, call, failureOf, signal, checker: NO_TESTS,
      ledger: { reserve: () => ({ id: 'none' }) },
      workOf: () => looking(observe),
      gatherContext: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
      confirmUnsandboxed: async () => false,
    }).drive();
    return recorder.snapshot;
  };

  const crash = new AbortController();
  await expect(drive(crash.signal, async (reply) => {
    if (reply.endsWith('a.js')) return { text: 'a = 1' };
    crash.abort(new Error('killed'));
    throw crash.signal.reason;
  })).rejects.toThrow('killed');
  expect(asked).toHaveLength(3);

  const observed: string[] = [];
  const run = await drive(new AbortController().signal, async (reply) => {
    observed.push(reply);
    return { text: 'b = 2' };
  });
  expect(observed).toEqual(['LOOK at b.js']);
  expect(asked).toHaveLength(4);
  expect(asked[3]?.slice(-4)).toEqual(['LOOK at a.js', 'a = 1', 'LOOK at b.js', 'b = 2']);
  expect(run).toMatchObject({ state: 'completed', spent: { usd: expect.closeTo(0.04, 9) } });
  expect(run.rounds[0]?.steps[0]).toMatchObject({
    output: 'It is the constant.', spent: { usd: expect.closeTo(0.03, 9) },
    turns: [{ reply: 'LOOK at a.js', observation: 'a = 1' }, { reply: 'LOOK at b.js', observation: 'b = 2' }],
  });
  expect(snapshotOf(journal.read('r'))).toEqual(run);
  journal.close();
});
