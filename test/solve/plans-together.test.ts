import { expect, it } from 'vitest';
import type { RunRequestInput } from '../../backend/protocol/run-request.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { MemoryKeys } from '../workers/harness.ts';
import { servedCaller, servedConductor } from '../workers/served/served-parts.ts';
import { SimulatedVllm, type SimulationOptions } from '../workers/served/simulated-vllm.ts';
import { drivenRun, NO_TESTS, worker } from './driven-run.ts';

/* Attempts of a served Conductor: one call writes the plans of all. The server is a simulation of vLLM; the journal and the calls are real. */

const PRICE = { inputPerMillion: 10, outputPerMillion: 10 };
const plan = (name: string): string => `model_id = [0]\nsubtasks = ["Mend the constant a in src/a.js, ${name}."]\naccess_list = [[]]`;
const FAILED: Verdict = { verified: false, score: 0, outcome: 'failed', reason: 'wrong', notes: [], command: 'node --test', sandboxed: true, durationMs: 1, tests: [{ id: 't', before: 'failed', after: 'failed' }] };
const CHECKER: Checker = {
  ...NO_TESTS,
  findTestCommands: async () => [{ command: 'node --test', runner: 'node-test', folder: '' }],
  parsePatch: async () => ({ edits: [{ path: 'src/a.js', kind: 'create', before: null, after: 'a' }], refused: [] }),
  verify: async () => FAILED,
};

/** A run whose plans come from the simulated server, and whose steps are a script. */
async function asked(options: SimulationOptions, { price = PRICE, ...request }: Partial<RunRequestInput> & { price?: typeof PRICE } = {}) {
  const server = await SimulatedVllm.start(options);
  const caller = await servedCaller();
  const planner = servedConductor(server.baseUrl, { price, promptProfile: 'compact' });
  const { drive, events } = await drivenRun([], { attempts: 3, workspace: '/', planner, pool: [worker], ...request });
  const run: RunSnapshot = await drive({
    checker: CHECKER,
    call: async (called, sent, { ledger, attempts, signal }) => {
      if (called.id === planner.id) return (await caller.call(called, sent, { ledger, attempts, signal, keys: new MemoryKeys(), onText: attempts.onText, maxAttempts: 1 })).reply;
      const next = { attemptId: `s${events().length}`, worker: called.id, number: 1, reserved: { tokens: 1 } };
      const reservation = attempts.started(next, () => ledger.reserve({ tokens: 1, isFree: true }));
      const usage = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0, estimated: false };
      const reply = { text: '```js src/a.js\na\n```', finishReason: 'stop' as const, usage, model: 'm' };
      attempts.succeeded({ ...next, reservation }, reply, { usage, cost: { usd: 0, estimated: false }, durationMs: 1 });
      return reply;
    },
  });
  const types = events().map(({ event }) => event.type);
  return { run, server, events, count: (type: string) => types.filter((one) => one === type).length };
}

const plansOf = ({ rounds }: RunSnapshot): (string | undefined)[] => rounds.map((round) => /, (\w+)\./.exec(round.plan?.subtasks[0] ?? '')?.[1]);

it.each([false, true])('are written in one call, each in its own attempt, and paid for once (at once: %s)', async (atOnce) => {
  const { run, server, events, count } = await asked({ writes: (sample) => plan(['a', 'b', 'c'][sample] as string) }, { atOnce });
  expect(server.to('completions').map((body) => body['n'])).toEqual([3]);
  expect(plansOf(run)).toEqual(['a', 'b', 'c']);
  expect(run).toMatchObject({ state: 'completed', outcome: 'not-verified' });
  const [prompt] = server.to('completions').map((body) => (body['prompt'] as number[]).length);
  // The prompt counts once, and the tokens of all three plans.
  expect(run.spent.usage.uncachedInput).toBe(prompt);
  expect(run.rounds.map(({ planSpent }) => (planSpent?.usd ?? 0) > 0)).toEqual([true, false, false]);
  expect(run.rounds.map(({ planAttempt }) => planAttempt?.ended)).toEqual([true, true, true]);
  const started = events().flatMap(({ event }) => (event.type === 'attempt.started' && event.purpose.kind === 'plan' ? [event] : []));
  expect(started.map(({ round, reserved }) => [round, reserved.tokens > 0])).toEqual([[0, true], [1, false], [2, false]]);
  expect(new Set(started.map(({ attemptId }) => attemptId)).size).toBe(3);
  expect(count('plan.proposed')).toBe(3);
  expect(count('attempt.failed')).toBe(0);
});

it('that the server did not write at once are asked for one after another', async () => {
  const { run, server } = await asked({ most: 2, writes: (sample) => plan(['a', 'b'][sample] as string) });
  expect(server.to('completions').map((body) => body['n'] ?? 1)).toEqual([3, 1]);
  expect(plansOf(run)).toEqual(['a', 'b', 'a']);
  expect(run.state).toBe('completed');
});

it('of which one is no plan have that one asked again, told what was wrong', async () => {
  let calls = 0;
  const { run, server } = await asked({ writes: (sample) => (calls++ < 3 && sample === 1 ? 'I do not know.' : plan(`p${calls}`)) });
  expect(server.to('completions').map((body) => body['n'] ?? 1)).toEqual([3, 1]);
  expect(run.rounds.map(({ rejections }) => rejections.length)).toEqual([0, 1, 0]);
  expect(plansOf(run)).toEqual(['p1', 'p4', 'p3']);
});

it('whose call fails are asked for one after another, and every attempt says that its own failed', async () => {
  const { run, events } = await asked({ refuses: ['prompt'] });
  expect(run.state).toBe('failed');
  const failed = events().flatMap(({ event }) => (event.type === 'attempt.failed' ? [event] : []));
  expect(failed.map(({ round }) => round)).toEqual([0, 1, 2, 1, 2]);
  expect(run.spent.usd).toBe(0);
});

it('are asked for alone where the budget holds no more than one', async () => {
  // Of a dollar: a plan of 1,024 tokens takes 0.51 at most.
  const { run, server } = await asked({ writes: () => plan('a') }, { price: { inputPerMillion: 0, outputPerMillion: 500 } });
  expect(server.to('completions').map((body) => body['n'] ?? 1)).toEqual([1, 1, 1]);
  expect(run.state).toBe('completed');
});
