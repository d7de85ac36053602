import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aloneName } from '../../../backend/eval/contestant.ts';
import { fusionCascade } from '../../../backend/eval/contestants/fusion-cascade.ts';
import { EvaluationFile } from '../../../backend/eval/evaluation/evaluation-file.ts';
import { Evaluation, type EvaluationOptions } from '../../../backend/eval/evaluation/open-evaluation.ts';
import { resultRows, resultsSchema } from '../../../backend/eval/evaluation/results.ts';
import { QUESTION_SUBTASKS } from '../../../backend/eval/plans.ts';
import { UNANSWERED } from '../../../backend/eval/run-plan.ts';
import type { Sample } from '../../../backend/protocol/evaluations.ts';
import { NO_USAGE } from '../../../backend/protocol/token-counts.ts';
import { readDemand } from '../../../backend/simulator/demand.ts';
import { WorkerError } from '../../../backend/workers/errors.ts';
import { loadPrices } from '../../../backend/workers/limits/prices.ts';
import { ASKED, exactTasks, workerNamed } from './exact-tasks.ts';

const signal = new AbortController().signal;
const pool = ['one', 'two', 'three'].map((id) => workerNamed(id, 'http://127.0.0.1:1/v1'));

type Call = EvaluationOptions['caller']['call'];
const usage = { ...NO_USAGE, uncachedInput: 100, output: 10 };

/** Answers by `say`, in the form of a real call. */
const callerSaying = (say: (worker: string, seed: number) => string, asked: string[] = []): { call: Call } => ({
  call: async (worker, request, { ledger, attempts }) => {
    const next = { attemptId: 'a', worker: worker.id, number: 1, reserved: { usd: 0.001, tokens: 200 } };
    const attempt = { ...next, reservation: attempts.started(next, () => ledger.reserve({ usd: 0.001, tokens: 200, isFree: false })) };
    asked.push(`${worker.id} ${request.seed} ${request.messages[0]?.content}`);
    await Promise.resolve();
    const reply = { text: say(worker.id, request.seed ?? 0), finishReason: 'stop' as const, usage, model: worker.model };
    const spent = { usage, cost: { usd: 0.0005, estimated: false }, durationMs: 1_000 };
    attempts.succeeded(attempt, reply, spent);
    return { reply, attempt, spent };
  },
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-evaluation-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function open(options: Partial<EvaluationOptions> & Pick<EvaluationOptions, 'caller' | 'folder'>): Promise<Evaluation> {
  const prices = await loadPrices();
  const evaluation = new Evaluation({
    sources: [{ name: 'exact', tasks: exactTasks(4), forms: { exact: 4 } }], practice: [], contestants: ['alone', 'mixture', 'majority'], planners: [], pool,
    seeds: 1, asked: ASKED, budget: { usd: 1, tokens: 1_000_000 }, concurrency: 3,
    keys: { get: () => Promise.reject(new Error('No key is needed.')), forget: () => {} },
    priceOf: (worker) => prices.of(worker), sameFor: () => (one, other) => Promise.resolve(one === other), ...options,
  });
  onTestFinished(() => evaluation.close());
  return evaluation;
}

describe('an evaluation', () => {
  it('pays once for what several contestants ask, and says what was served', async () => {
    const asked: string[] = [];
    const folder = await newFolder();
    const evaluation = await open({ folder, caller: callerSaying((worker) => (worker === 'two' ? 'right' : 'wrong'), asked) });
    const { calls } = await evaluation.estimate(signal);
    const { results, samples } = await evaluation.run(signal, () => {});
    expect(new Set(asked).size).toBe(asked.length);
    // Each task: three alone, two more of the mixture in other words, its aggregator, four more of the majority.
    expect(asked).toHaveLength(4 * (3 + 2 + 1 + 4));
    expect(calls).toBe(asked.length);
    expect(results.spent).toMatchObject({ paid: 40, served: 8, usd: expect.closeTo(0.02) as number, lost: 0 });
    expect(results.contestants.map(({ name, right, costUsd }) => [name, right.mean, Number(costUsd.toFixed(6))])).toEqual([
      ['one alone', 0, 0.0005], ['two alone', 1, 0.0005], ['three alone', 0, 0.0005], ['mixture of agents', 0, 0.002], ['majority of five', 0, 0.0025],
    ]);
    expect(resultsSchema.parse(JSON.parse(await readFile(path.join(folder, 'results.json'), 'utf8')))).toEqual(results);
    expect((await readFile(path.join(folder, 'samples.jsonl'), 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as Sample)).toEqual(samples);
    expect(samples[0]?.traces[0]?.[0]).toMatchObject({ worker: 'one', output: 'wrong', reads: [] });
    // Steps at the same time take the time of one.
    expect(results.contestants.at(3)?.seconds).toBe(2);
  });

  it('stops at its budget before a call that does not fit, and goes on with a higher one', async () => {
    const folder = await newFolder();
    const asked: string[] = [];
    const caller = callerSaying(() => 'right', asked);
    const first = await open({ folder, caller, budget: { usd: 0.0052, tokens: 1_000_000 } });
    await expect(first.run(signal, () => {})).rejects.toThrow(/The next call may cost .*--max-usd/);
    first.close();
    expect(asked.length).toBeGreaterThan(5);
    expect(first.spent.usd).toBeLessThanOrEqual(0.0052);
    const second = await open({ folder, caller });
    await second.run(signal, () => {});
    expect(asked).toHaveLength(40);
    expect(new Set(asked).size).toBe(40);
  });

  it('lets one process at a time use a folder', async () => {
    const folder = await newFolder();
    const evaluation = await open({ folder, caller: callerSaying(() => 'right') });
    await evaluation.estimate(signal);
    expect(() => new EvaluationFile(path.join(folder, 'evaluation.sqlite'), { usd: 1, tokens: 1 })).toThrow('another evaluation uses it');
  });

  it('counts a call that only failed for itself as a wrong answer, and ends where no call would succeed', async () => {
    const right = callerSaying(() => 'right');
    const either = (kind: 'context-overflow' | 'authentication'): { call: Call } => ({
      call: (worker, ...rest) => (worker.id === 'two' ? Promise.reject(new WorkerError({ kind, message: 'No.' })) : right.call(worker, ...rest)),
    });
    const { results } = await (await open({ folder: await newFolder(), caller: either('context-overflow'), contestants: ['alone'] })).run(signal, () => {});
    expect(results.contestants.map((row) => row.right.mean)).toEqual([1, 0, 1]);
    const outage = await open({ folder: await newFolder(), caller: either('authentication'), contestants: ['alone'] });
    await expect(outage.run(signal, () => {})).rejects.toThrow('No.');
  });

  it('takes the best worker from practice, and routes by it', async () => {
    const practice = exactTasks(6).map((task) => ({ ...task, id: `practice ${task.id}`, question: `Practise: ${task.question}` }));
    const evaluation = await open({ folder: await newFolder(), practice, contestants: ['fusion-single', 'router'], caller: callerSaying((worker) => (worker === 'three' ? 'right' : 'wrong')) });
    const { results } = await evaluation.run(signal, () => {});
    expect(results.best).toEqual({ worker: 'three', why: 'best in practice' });
    expect(results.contestants.map((row) => row.right.mean)).toEqual([1, 1]);
  });
});

describe('results', () => {
  const sample = (contestant: string, task: number, verified: boolean, costUsd: number, seed = 0): Sample => ({
    contestant, task: `task ${task}`, seed, verified, score: Number(verified), reason: '', answer: '', costUsd, usage: NO_USAGE, seconds: 0, traces: [],
  });

  it('compare with the best worker by pairs, and mark the frontier', () => {
    const rows = resultRows([0, 1, 2, 3, 4, 5, 6, 7].flatMap((task) => [
      sample(aloneName('cheap'), task, task < 3, 1), sample(aloneName('good'), task, task < 6, 2), sample('dear', task, task < 6, 3), sample('best', task, true, 9),
    ]));
    expect(rows.map(({ name, isOnFrontier }) => [name, isOnFrontier])).toEqual([['cheap alone', true], ['good alone', true], ['dear', false], ['best', true]]);
    expect(rows[1]?.versusBest).toBeUndefined();
    expect(rows[2]?.versusBest).toMatchObject({ difference: { mean: 0, low: 0, high: 0 }, pValue: 1 });
    expect(rows[3]?.versusBest?.difference.mean).toBeCloseTo(0.25);
  });

  it('of an evaluation under way are of the tasks that all have answered', () => {
    const rows = resultRows([sample('a', 0, true, 1), sample('b', 0, false, 1), sample('a', 1, false, 1), sample('a', 0, true, 1, 1)]);
    expect(rows.map(({ right }) => right.mean)).toEqual([1, 0]);
  });
});

describe('Fusion\'s cascade', () => {
  const played = async (verdict: string) => {
    const plans: (readonly number[])[] = [];
    const answered = await fusionCascade(0, 1, 2).answer(exactTasks(1)[0] as ReturnType<typeof exactTasks>[0], ({ modelIds }) => {
      plans.push(modelIds);
      return Promise.resolve({ ...UNANSWERED, costUsd: modelIds.length, answer: modelIds.length === 2 ? verdict : `by ${modelIds[0]}` });
    }, 0);
    return { plans, answer: answered.answer, costUsd: answered.costUsd };
  };

  it('keeps a draft that is accepted, and escalates any other', async () => {
    expect(await played('It holds.\n**ACCEPT**')).toEqual({ plans: [[0], [0, 1]], answer: 'by 0', costUsd: 2 });
    expect(await played('ACCEPT? No.\nESCALATE')).toEqual({ plans: [[0], [0, 1], [2]], answer: 'by 2', costUsd: 3 });
    expect((await played('I cannot ACCEPT this.')).answer).toBe('by 2');
  });
});

describe('subtasks for questions of any kind', () => {
  it('leave it to the question what is wanted', () => {
    const roles = { plan: 'plan', write: 'write', alone: 'write', check: 'check', judge: 'check' } as const;
    for (const kind of Object.keys(roles) as (keyof typeof roles)[]) {
      for (const subtask of QUESTION_SUBTASKS[kind]) {
        const { role, vague, product } = readDemand(subtask);
        expect([role, vague, product], subtask).toEqual([roles[kind], false, undefined]);
      }
    }
  });
});
