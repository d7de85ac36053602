import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { JournalUnavailableError } from '../../backend/journal/errors.ts';
import { Journal } from '../../backend/journal/journal.ts';
import { NO_LOCAL_RECORD } from '../../backend/protocol/local-first.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { answerOf, roundsBefore } from '../../backend/protocol/run-facts.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { keptOnRetry } from '../../backend/solve/kept-events.ts';
import { firstToTry } from '../../backend/solve/local-first.ts';
import { ALL_ALIKE, recordBook, workerRecords, type Expectation } from '../../backend/records/worker-records.ts';
import { WorkerError } from '../../backend/workers/errors.ts';
import { accepted, usage } from '../journal/sample-events.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { drivenRun, NO_TESTS, worker as paid } from './driven-run.ts';

/* Runs that a worker which costs nothing may try first. Verdicts are scripted: an answer is worth what it says. */

const FREE = { inputPerMillion: 0, outputPerMillion: 0 };
const free = workerConfigSchema.parse({ id: 'llama', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', model: 'llama', price: FREE });
const other = { ...free, id: 'other', baseUrl: 'http://127.0.0.1:1234/v1' };
const plan = 'model_id = [0]\nsubtasks = ["Mend the constant a in src/a.js."]\naccess_list = [["all"]]';
const answer = (worth: string): string => `[${worth}]\n\`\`\`js src/a.js\nexport const a = 2;\n\`\`\``;

function verdictOf(text: string): Verdict {
  const [, worth = ''] = /\[(.*?)\]/.exec(text) ?? [];
  const common = { reason: worth, notes: [], command: 'node --test', sandboxed: true, durationMs: 1 };
  if (worth === 'verified') return { ...common, verified: true, score: 1, outcome: 'verified', tests: [] };
  if (worth === 'passes') return { ...common, verified: false, score: 0.5, outcome: 'passes', tests: [] };
  return { ...common, verified: false, score: 0, outcome: 'failed', tests: [{ id: `test ${worth}`, before: 'failed', after: 'failed' }] };
}

const judge: Checker = {
  ...NO_TESTS,
  findTestCommands: async () => [{ command: 'node --test', runner: 'node-test', folder: '' }],
  parsePatch: async (text) => ({ edits: text.startsWith('[') ? [{ path: 'src/a.js', kind: 'create', before: null, after: text }] : [], refused: [] }),
  verify: async ({ patch }) => verdictOf(patch.edits[0]?.after ?? ''),
};
const triesBy = () => ({ expected: ALL_ALIKE, tries: NO_LOCAL_RECORD });
const request = { workspace: '/', localFirst: true, pool: [paid, free] };
const options = { checker: judge, triesBy };
const types = (events: readonly { event: RunEvent }[]) => events.map(({ event }) => event.type);

it('ends with a verified try: nobody is asked for a plan, and nobody is paid', async () => {
  const { asked, drive, events } = await drivenRun([answer('verified')], request);
  const run = await drive({ checker: judge, triesBy: () => ({ expected: ALL_ALIKE, tries: { tried: 3, verified: 2 } }) });
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified', answerRound: 0, spent: { usd: 0 }, rounds: [{ localTry: { record: { tried: 3, verified: 2 } }, steps: [{ worker: 1 }] }] });
  expect(asked).toHaveLength(1);
  expect(asked[0]?.at(-1)).toContain('Your subtask');
  expect(types(events()).slice(1)).toEqual([
    'context.gathered', 'try.begun', 'plan.proposed', 'attempt.started', 'step.completed', 'answer.ready', 'verify.started', 'verify.completed', 'run.completed',
  ]);
});

it('goes on by a plan where the try is red, and tells the Conductor and the workers what it was', async () => {
  const { asked, drive } = await drivenRun([answer('of llama'), plan, answer('verified')], request);
  const run = await drive(options);
  expect(run).toMatchObject({ outcome: 'verified', answerRound: 1 });
  expect(run.spent.usd).toBeCloseTo(0.02);
  const [, toPlan = [], toWork = []] = asked;
  expect(toPlan.at(-1)).toContain('a worker that costs nothing was tried alone first');
  expect(toPlan.join('\n')).toContain('test of llama');
  // The answer that its tests reject is not kept: these tests are what asks for a plan.
  expect(toPlan.join('\n')).not.toContain('keep the answer');
  expect(toWork.join('\n')).toContain('test of llama');
  expect(toWork.join('\n')).toContain('[of llama]');
});

it('takes no decision to keep the answer of the try', async () => {
  const keep = 'model_id = []\nsubtasks = []\naccess_list = []';
  const { drive } = await drivenRun([answer('a'), keep, plan, answer('verified')], request);
  expect(await drive(options)).toMatchObject({ outcome: 'verified', rounds: [{}, { rejections: [{ reason: 'no-steps' }], kept: false }] });
});

it('goes on where tests pass but prove nothing, and offers what was paid for of equals', async () => {
  const { drive } = await drivenRun([answer('passes'), plan, answer('passes')], request);
  expect(await drive(options)).toMatchObject({ outcome: 'passes', answerRound: 1 });
});

it('keeps its rounds beside the try', async () => {
  const { asked, drive } = await drivenRun([answer('a'), plan, answer('b'), plan, answer('verified')], { ...request, rounds: 2 });
  expect(await drive(options)).toMatchObject({ outcome: 'verified', answerRound: 2 });
  expect(asked).toHaveLength(5);
  expect(asked[3]?.join('\n')).toContain('To keep the answer');
});

it.each([
  ['refuses', () => Promise.reject(new WorkerError({ kind: 'network', message: 'Nothing listens there.' }))],
  ['answers without a change', 'I cannot say.'],
])('goes on where the worker %s', async (_name, reply) => {
  const { asked, drive } = await drivenRun([reply, plan, answer('verified')], request);
  const run = await drive(options);
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified', answerRound: 1 });
  // A try without an answer is nothing that a plan could revise.
  expect(asked[1]?.join('\n').includes('TEST FEEDBACK')).toBe(typeof reply === 'string');
  expect(roundsBefore(run, 1)).toHaveLength(typeof reply === 'string' ? 1 : 0);
});

it('gives the try of a worker that fails to another one that costs nothing, and to nobody else', async () => {
  const refused = (): Promise<string> => Promise.reject(new WorkerError({ kind: 'network', message: 'Nothing listens there.' }));
  const two = await drivenRun([refused, answer('verified')], { ...request, pool: [paid, free, other] });
  expect(await two.drive({ ...options, standInsBy: () => ALL_ALIKE })).toMatchObject({ outcome: 'verified', answerRound: 0, spent: { usd: 0 }, rounds: [{ steps: [{ worker: 2, handedOn: [{ worker: 1 }] }] }] });
  const one = await drivenRun([refused, plan, answer('verified')], request);
  expect(await one.drive({ ...options, standInsBy: () => ALL_ALIKE })).toMatchObject({ outcome: 'verified', answerRound: 1, rounds: [{ failure: { kind: 'network' } }, {}] });
});

it('tries where its workers cost nothing and the plan is paid for', async () => {
  const { drive } = await drivenRun([answer('verified')], { ...request, pool: [free], planner: paid });
  expect(await drive(options)).toMatchObject({ outcome: 'verified', answerRound: 0, spent: { usd: 0 }, rounds: [{ localTry: {} }] });
});

it.each([
  ['no tests judge', 'no-tests', { checker: NO_TESTS }, {}],
  ['the question wants words', 'no-change', {}, { asks: { kind: 'explain', wants: 'words' } }],
  ['nobody is free', 'nobody-free', {}, { pool: [paid] }],
  ['nobody costs money', 'nobody-paid', {}, { pool: [free], planner: free }],
] satisfies [string, string, Partial<typeof options>, Parameters<typeof drivenRun>[1]][])('tries nothing where %s, and says so', async (_name, because, more, asked) => {
  const { drive, events } = await drivenRun([plan, answer('verified')], { ...request, ...asked });
  expect(await drive({ ...options, ...more })).toMatchObject({ state: 'completed', noTry: because });
  expect(types(events())).not.toContain('try.begun');
});

it.each([
  ['nothing fails on the code as it is', 'nothing-red', { total: 2, failed: 0 }],
  ['the tests give no result', 'no-result', { total: 0, failed: 0, problem: 'no report' }],
])('tries nothing where %s', async (_name, because, result) => {
  const { drive } = await drivenRun([plan, answer('passes')], request);
  const base = { flaky: 0, failing: [], durationMs: 1, ...result };
  expect(await drive({ ...options, checker: { ...judge, testBase: async () => base } })).toMatchObject({ noTry: because });
});

it('tries nothing that was not asked for', async () => {
  const { drive } = await drivenRun([plan, answer('verified')], { ...request, localFirst: false });
  const run = await drive(options);
  expect(run.noTry).toBeUndefined();
  expect(run.rounds).toHaveLength(1);
});

describe('before several attempts', () => {
  const several = { ...request, attempts: 2 };

  it('is told to each of them, and they still do not know of each other', async () => {
    const { asked, drive } = await drivenRun([answer('of llama'), plan, plan, answer('first'), answer('second')], several);
    const run = await drive(options);
    expect(run).toMatchObject({ outcome: 'not-verified', answerRound: 1 });
    for (const messages of asked.slice(1)) expect(messages.join('\n')).toContain('test of llama');
    expect(asked.slice(1, 3).map((messages) => messages.join('\n'))).toSatisfy(([a, b]: string[]) => a === b);
    expect(asked[4]?.join('\n')).not.toContain('test first');
  });

  it('is not offered where all of them failed, so that the run can be resumed', async () => {
    const refused = (): Promise<string> => Promise.reject(new Error('refused'));
    const { drive } = await drivenRun([answer('a'), plan, plan, refused, refused], several);
    expect(await drive(options)).toMatchObject({ state: 'failed' });
  });
});

it.each([1, 2])('ends the same wherever it is interrupted, with %s attempts, and asks for nothing twice', async (attempts) => {
  const begin = async () => {
    const reply = (): string => {
      const asked = begun.asked.at(-1)?.join('\n') ?? '';
      if (!asked.includes('Your subtask')) return plan;
      return asked.includes('test of llama') ? answer('verified') : answer('of llama');
    };
    const begun = await drivenRun(Array.from({ length: 9 }, () => reply), { ...request, attempts });
    return begun;
  };
  const shape = ({ outcome, answerRound, rounds }: RunSnapshot) => [outcome, answerRound, rounds.map(({ localTry, steps }) => [localTry, steps.map(({ output }) => output)])];
  const whole = await begin();
  const expected = await whole.drive(options);
  expect(expected).toMatchObject({ outcome: 'verified', answerRound: 1 });
  const count = whole.events().length;
  for (let last = 1; last < count; last += 1) {
    const { asked, drive, events } = await begin();
    const broken = await drive({ ...options, failAfter: last }).catch((error: unknown) => error);
    expect(broken, `after event ${last}`).toBeInstanceOf(JournalUnavailableError);
    // The try and its plan are written together or not at all.
    expect(types(events()).at(-1)).not.toBe('try.begun');
    expect(shape(await drive(options)), `after event ${last}`).toEqual(shape(expected));
    expect(asked.length, `after event ${last}`).toBeLessThanOrEqual(whole.asked.length + 1);
  }
});

it('keeps the try when a later step is asked again, and counts it once', async () => {
  const { drive, events } = await drivenRun([answer('a'), plan, answer('b')], request);
  await drive(options);
  const kept = keptOnRetry(events(), { round: 1, step: 0 });
  expect(kept.find(({ type }) => type === 'try.begun')).toMatchObject({ keptFrom: 'r' });
  expect(keptOnRetry(events(), { round: 0, step: 0 }).map(({ type }) => type)).toEqual(['context.gathered', 'try.begun', 'plan.proposed']);
});

describe('the worker that tries', () => {
  const expecting = (shares: Readonly<Record<string, number>>): Expectation => ({ id }) => shares[id] ?? 0.5;

  it('is the one with the best record of those that cost nothing', () => {
    expect(firstToTry([paid, free, other], ALL_ALIKE)).toBe(1);
    expect(firstToTry([paid, free, other], expecting({ other: 0.6 }))).toBe(2);
    expect(firstToTry([paid, free, other], expecting({ w: 0.9, llama: 0.7, other: 0.4 }))).toBe(1);
    expect(firstToTry([paid], ALL_ALIKE)).toBeUndefined();
  });

  it('has hands, or is the larger one, where records do not tell them apart', () => {
    expect(firstToTry([free, { ...other, hands: 'fenced' }], ALL_ALIKE)).toBe(1);
    expect(firstToTry([{ ...free, model: 'qwen3:4b' }, { ...other, model: 'qwen3:32b' }], ALL_ALIKE)).toBe(1);
    expect(firstToTry([{ ...free, model: 'qwen3-base' }], ALL_ALIKE)).toBeUndefined();
  });
});

describe('the record in a project', () => {
  const spentOf = (usd: number) => ({ usage, cost: { usd, estimated: false }, durationMs: 10 });
  const steps = [{ worker: 0, subtask: 'Answer.', reads: [], readsPreviousRound: false }];
  const planned = (round: number, ordinal: number): RunEvent => ({
    type: 'plan.proposed', round, attemptId: 'p', text: 'p', plan: { modelIds: [ordinal], subtasks: ['Answer.'], accessList: [[]] }, steps: steps.map((step) => ({ ...step, worker: ordinal })), ...spentOf(0),
  });
  const judged = (round: number, outcome: string, usd: number): RunEvent[] => [
    { type: 'step.completed', round, step: 0, attemptId: `s${round}`, output: 'x', finishReason: 'stop', ...spentOf(usd) },
    { type: 'answer.ready', round, step: 0, edits: [], refused: [] },
    { type: 'verify.completed', round, verdict: verdictOf(`[${outcome}]`) },
  ];
  const ended = (round: number, outcome: 'verified' | 'not-verified'): RunEvent => ({ type: 'run.completed', outcome, round, message: '' });
  const begun: RunEvent = { type: 'try.begun', round: 0, record: NO_LOCAL_RECORD };

  const opened = async () => {
    let now = 0;
    const journal = Journal.open(path.join(await temporaryFolder(), 'journal.sqlite'), { now: () => (now += 1_000) });
    onTestFinished(() => journal.close());
    const run = (id: string, events: RunEvent[], simulated = false): void => {
      journal.accept(id, accepted({ pool: [{ ...paid, simulated }, free] }));
      journal.append(id, events);
    };
    return { journal, run };
  };
  const verifiedTry = [begun, planned(0, 1), ...judged(0, 'verified', 0), ended(0, 'verified')];
  const redTry = [begun, planned(0, 1), ...judged(0, 'red', 0), planned(1, 0), ...judged(1, 'verified', 0.06), ended(1, 'verified')];
  const paidFor = (usd: number): RunEvent[] => [planned(0, 0), ...judged(0, 'red', usd), ended(0, 'not-verified')];

  it('counts tries that have ended, and compares with what runs cost in which workers were paid', async () => {
    const { journal, run } = await opened();
    expect(journal.localTries('/projects/sample')).toEqual(NO_LOCAL_RECORD);
    run('verified', verifiedTry);
    run('red', redTry);
    // Under way, of a simulation, and kept from another run: no try.
    run('going on', [begun, planned(0, 1)]);
    run('simulated', verifiedTry, true);
    run('again', [{ ...begun, keptFrom: 'red' }, planned(0, 1), ...judged(0, 'red', 0)]);
    expect(journal.localTries('/projects/sample')).toEqual({ tried: 2, verified: 1, durationMs: 4_000 });
    expect(journal.localTries('/projects/sample', 'red')).toMatchObject({ tried: 1, verified: 1 });
    run('paid', paidFor(0.04));
    run('paid too', paidFor(0.02));
    expect(journal.localTries('/projects/sample').saved).toMatchObject({ runs: 3, usd: expect.closeTo(0.04) as number });
    expect(journal.localTries('/elsewhere')).toEqual(NO_LOCAL_RECORD);
  });

  it('counts a red try against its worker alone, although the run was verified', async () => {
    const { journal, run } = await opened();
    run('red', redTry);
    run('verified', verifiedTry);
    expect(workerRecords(recordBook(journal), { project: '/projects/sample' }, [paid, free])).toMatchObject([
      { worker: 'w', runs: 1, verified: 1 }, { worker: 'llama', runs: 2, verified: 1 },
    ]);
  });
});

it('offers the answer of the try while nothing better is there', async () => {
  const { drive } = await drivenRun([answer('a'), () => Promise.reject(new Error('no Conductor'))], request);
  const run = await drive(options);
  expect(run.state).toBe('failed');
  expect(answerOf(run)?.round.localTry).toBeDefined();
});
