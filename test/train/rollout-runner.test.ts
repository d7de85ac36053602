import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { budgetSchema, workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { planPromptOf } from '../../backend/solve/plan-prompt.ts';
import { AnswerFile } from '../../backend/train/rollouts/answer-file.ts';
import type { SampledCompletion } from '../../backend/train/engines/engine.ts';
import type { SampledPlan } from '../../backend/train/grpo/gatherer.ts';
import { RolloutGatherer } from '../../backend/train/rollouts/rollout-gatherer.ts';
import { RolloutRunner, type RolloutRunnerOptions } from '../../backend/train/rollouts/rollout-runner.ts';
import { TrainingBudgetError } from '../../backend/train/rollouts/training-budget.ts';
import type { GradedTask, ProjectTask } from '../../backend/train/tasks/task.ts';
import { wholeGrade, infrastructureGrade } from '../../backend/verify/graders/grader.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { AnswerCache } from '../../backend/workers/answer-cache.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { repaid } from '../support/compared-runs.ts';
import { FailingSqlite } from '../support/failing-sqlite.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
let server: ScriptedServer;
let script: (request: ScriptedRequest) => ScriptedAnswer;
/** Goes so fast that no cooldown is felt. */
let clock = 0;
let waits: (string | undefined)[];
let delayed: () => void;
const opened: { close(): void }[] = [];

beforeEach(async () => {
  folder = await temporaryFolder();
  script = ({ model, text }) => `${model} says ${asksForPlan(text) ? 'plan' : `right ${server.requests.length}`}`;
  server = await ScriptedServer.start((request) => script(request));
  waits = [];
  delayed = () => {};
});
afterEach(async () => {
  for (const open of opened.splice(0).reverse()) open.close();
  await server.close();
});

const asksForPlan = (text: string): boolean => /make a plan\.$/i.test(text);

const NEVER = new AbortController().signal;
const AT = { step: 3, place: 1 };

const task: GradedTask = {
  id: 'task',
  question: 'parse() returns null for an empty line?',
  context: 'So much is known.',
  grader: { grade: async ({ answer }) => wholeGrade(answer.includes('right'), 'read') },
};

const plan = (...steps: readonly [worker: number, subtask: string][]): SampledCompletion => ({
  text: [
    `model_id = ${JSON.stringify(steps.map(([worker]) => worker))}`,
    `subtasks = ${JSON.stringify(steps.map(([, subtask]) => subtask))}`,
    `access_list = ${JSON.stringify(steps.map((_, index) => (index === 0 ? [] : ['all'])))}`,
  ].join('\n'),
  promptTokens: [1, 2, 3],
  tokens: [4, 5],
  logprobs: [-1, -1],
  finishReason: 'stop',
});

const group = (completions: readonly SampledCompletion[]): SampledPlan[] => completions.map((completion, sample) => ({ sample, completion }));

const workers = (): WorkerConfig[] => ['one', 'two'].map((id) => workerConfigSchema.parse({
  id, model: id, provider: 'openai-compatible', baseUrl: server.baseUrl, maxOutputTokens: 1_000, price: { inputPerMillion: 10, outputPerMillion: 100 },
}));

async function rollouts(options: Partial<RolloutRunnerOptions> = {}): Promise<RolloutRunner> {
  const journal = Journal.open(path.join(folder, 'journal.sqlite'), { isDurable: false });
  const answers = new AnswerFile(path.join(folder, 'answers.sqlite'));
  opened.push(journal, answers);
  const prices = await loadPrices();
  return new RolloutRunner({
    journal,
    caller: new WorkerCaller({ limits: new ProviderLimits({ now: () => (clock += 3_600_000) }), prices, delay: async () => {} }),
    prices,
    keys: { get: () => Promise.reject(new Error('no key is needed')), forget: () => {} },
    answers: new AnswerCache(answers),
    name: 'training',
    scope: 'training:training',
    kind: 'rollout',
    budget: () => budgetSchema.parse({}),
    planner: workerConfigSchema.parse({ id: 'planner', model: 'mini', provider: 'local' }),
    parallel: 4,
    onWaiting: (message) => waits.push(message),
    delay: async () => delayed(),
    now: Date.now,
    ...options,
  });
}

describe('a rollout', () => {
  it('is a run of Solve with its plan given: executed, graded, and paid for', async () => {
    const made = await rollouts();
    const cut: SampledCompletion = { ...plan([0, 'Answer.']), text: 'model_id = [0', finishReason: 'length' };
    const plans = [plan([0, 'Make a plan.'], [1, 'Answer.']), plan([0, 'Make a plan.']), cut, plan([7, 'No.'])];
    const outcomes = await made.run(task, workers(), group(plans), AT, NEVER);
    // 100 tokens in, 20 out.
    const cost = (100 * 10 + 20 * 100) / 1_000_000;
    expect(outcomes).toEqual([
      { kind: 'judged', verified: true, score: 1, costUsd: expect.closeTo(2 * cost, 9), tokens: 240 },
      { kind: 'judged', verified: false, score: 0, costUsd: expect.closeTo(cost, 9), tokens: 120 },
      { kind: 'unparseable' },
      { kind: 'unparseable' },
    ]);
    expect(made.spent.usd).toBeCloseTo(3 * cost, 9);
    const run = opened.map((open) => (open instanceof Journal ? open.snapshot('training.3.1.0') : undefined)).find(Boolean);
    expect(run).toMatchObject({ kind: 'rollout', taskId: 'task', parentId: 'training', state: 'completed' });
    expect(server.of('two')[0]?.text).toContain('one says plan');
    expect(server.of('two')[0]?.text).toContain('So much is known.');
  });

  it('of a training that measures a feature is carried out without it', async () => {
    const made = await rollouts({ ablations: ['vague', 'access=nothing'] });
    await made.run(task, workers(), group([plan([0, 'Make a plan.'], [1, 'Answer.'])]), AT, NEVER);
    const [second] = server.of('two');
    expect(second?.text).toMatch(/Your subtask: Solve the user question\.$/);
    expect(second?.text).not.toContain('one says');
    const run = opened.map((open) => (open instanceof Journal ? open.snapshot('training.3.1.0') : undefined)).find(Boolean);
    // What was sampled stays as it was written.
    expect(run?.rounds[0]).toMatchObject({ planText: plan([0, 'Make a plan.'], [1, 'Answer.']).text, plan: { subtasks: Array.from({ length: 2 }, () => 'Solve the user question.') } });
  });

  it('does not wait for the model that wrote its plan', async () => {
    const limits = new ProviderLimits({ now: () => (clock += 3_600_000) });
    const planner = workerConfigSchema.parse({ id: 'planner', model: 'mini', provider: 'local' });
    // The only place of this machine's models is taken, as while the next group is sampled.
    const place = await limits.acquire(planner, NEVER);
    const made = await rollouts({ planner, caller: new WorkerCaller({ limits, prices: await loadPrices(), delay: async () => {} }) });
    expect(await made.run(task, workers(), group([plan([0, 'Answer.'])]), AT, NEVER)).toMatchObject([{ kind: 'judged', verified: true }]);
    place.release();
  });

  it('that has ended is only read when its training goes on, and one that was left is finished; neither is paid for twice', async () => {
    const plans = [plan([0, 'Make a plan.'], [1, 'Answer.']), plan([0, 'Make a plan.'], [1, 'Answer.'])];
    const first = await rollouts();
    const outcomes = await first.run(task, workers(), group(plans), AT, NEVER);
    expect(server.requests).toHaveLength(4);
    const { spent } = first;

    const others = [plan([0, 'Think, and make a plan.'], [1, 'Answer at last.'])];
    const abort = new AbortController();
    script = ({ model, text }) => {
      if (model === 'two') abort.abort(new Error('The machine was turned off.'));
      return `${model} says ${asksForPlan(text) ? 'plan' : 'right'}`;
    };
    await expect((await rollouts()).run(task, workers(), group(others), { step: 4, place: 0 }, abort.signal)).rejects.toThrow('turned off');
    const asked = server.of('one').length;

    script = () => 'right';
    const again = await rollouts();
    expect(await again.run(task, workers(), group(plans), AT, NEVER)).toEqual(outcomes);
    expect(await again.run(task, workers(), group(others), { step: 4, place: 0 }, NEVER)).toMatchObject([{ kind: 'judged', verified: true }]);
    expect(server.of('one')).toHaveLength(asked);
    expect(again.spent.usd).toBeGreaterThan(spent.usd);
    await expect(again.run(task, workers(), group([plan([1, 'Another.'])]), AT, NEVER)).rejects.toThrow('give this training a name of its own');
  });

  it('shares answers with the same sample of a later group, and never with another sample', async () => {
    const made = await rollouts();
    const plans = [plan([0, 'Answer.']), plan([0, 'Answer.'])];
    const cost = made.spent.usd;
    const [first, second] = await made.run(task, workers(), group(plans), AT, NEVER);
    expect(server.requests).toHaveLength(2);
    const spent = made.spent.usd;
    expect(spent).toBeGreaterThan(cost);
    expect(await made.run(task, workers(), group(plans), { step: 9, place: 0 }, NEVER)).toEqual([first, second]);
    expect(server.requests).toHaveLength(2);
    expect(made.spent.usd).toBe(spent);
  });

  it('shares a step with the plans of its group, if it is to, and pays for it once however many wait for it', async () => {
    script = ({ model }) => `${model} says right ${server.requests.length}`;
    const made = await rollouts({ sharedAnswers: 2 });
    const plans = [plan([0, 'Think.'], [1, 'Answer.']), plan([0, 'Think.'], [1, 'Answer.']), plan([0, 'Think.'], [1, 'Answer at last.'])];
    const outcomes = await made.run(task, workers(), group(plans), AT, NEVER);
    expect([server.of('one').length, server.of('two').length]).toEqual([1, 2]);
    // 100 tokens in, 20 out, by each of two workers: each plan counts what its steps cost, and the training what was paid.
    const cost = (100 * 10 + 20 * 100) / 1_000_000;
    expect(outcomes.map((outcome) => (outcome.kind === 'judged' ? outcome.costUsd : 0))).toEqual([0, 0, 0].map(() => expect.closeTo(2 * cost, 9)));
    expect(made.spent.usd).toBeCloseTo(3 * cost, 9);

    // A later group has an answer of its own, until there are two.
    await made.run(task, workers(), group(plans.slice(0, 1)), { ...AT, step: 4 }, NEVER);
    expect(server.of('one')).toHaveLength(2);
    await made.run(task, workers(), group(plans.slice(0, 1)), { ...AT, step: 5 }, NEVER);
    expect(server.of('one')).toHaveLength(2);
  });

  it('shares no step of a worker that costs nothing: another draw tells more', async () => {
    const free = workers().map((worker) => ({ ...worker, price: { inputPerMillion: 0, outputPerMillion: 0 } }));
    const made = await rollouts({ sharedAnswers: 2 });
    await made.run(task, free, group([plan([0, 'Answer.']), plan([0, 'Answer.'])]), AT, NEVER);
    expect(server.of('one')).toHaveLength(2);
  });

  it('asks for a shared step itself where the plan that asked first is refused', async () => {
    let asked = 0;
    script = () => ((asked += 1) === 1 ? { status: 400 } : 'right');
    const made = await rollouts({ sharedAnswers: 2 });
    const outcomes = await made.run(task, workers(), group([plan([0, 'Answer.']), plan([0, 'Answer.']), plan([0, 'Answer.'])]), AT, NEVER);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['infrastructure', 'judged', 'judged']);
    expect(asked).toBe(2);
  });

  it('waits for a worker that is out of order, tells why, and becomes no reward meanwhile', async () => {
    let isDown = true;
    script = () => (isDown ? { status: 503 } : 'right');
    delayed = () => {
      isDown = waits.length < 5;
    };
    const made = await rollouts({ parallel: 1 });
    expect(await made.run(task, workers(), group([plan([0, 'Answer.'])]), AT, NEVER)).toMatchObject([{ kind: 'judged', verified: true }]);
    expect(waits).toEqual([expect.stringContaining('one'), undefined, expect.stringContaining('one'), undefined, expect.stringContaining('one'), undefined]);
  });

  it('whose call a worker refuses for itself, and whose grader cannot work, is of unknown worth', async () => {
    script = ({ model }) => (model === 'one' ? { status: 400 } : 'right');
    const made = await rollouts();
    const broken: GradedTask = { ...task, id: 'broken', grader: { grade: async () => infrastructureGrade('The machine is full.') } };
    expect(await made.run(task, workers(), group([plan([0, 'Answer.']), plan([1, 'Answer.'])]), AT, NEVER)).toEqual([
      { kind: 'infrastructure' }, { kind: 'judged', verified: true, score: 1, costUsd: expect.any(Number), tokens: expect.any(Number) },
    ]);
    // Nobody stands in for a worker: another one's work would be counted as the plan's.
    expect(server.of('two')).toHaveLength(1);
    expect(await made.run(broken, workers(), group([plan([1, 'Answer.'])]), { step: 4, place: 0 }, NEVER)).toEqual([{ kind: 'infrastructure' }]);
    expect(waits).toEqual([]);
  });

  it.each([
    ['the budget of its training', { usd: 0.104 }, { by: 'usd', limit: 0.104 }, /^The budget of this training \(\$0\.104\).*Resume the training with a higher limit\.$/],
    ['the tokens of its training', { tokens: 1_300 }, { by: 'tokens', limit: 1_300 }, /^The budget of this training \(1\.3k tokens\)/],
    ['what one rollout may cost', { runUsd: 0.104 }, { by: 'runUsd', limit: 0.104 }, /^The budget of a rollout \(\$0\.104\).*Resume the training with a higher limit\.$/],
  ])('beyond %s is not begun, and goes on with more', async (_what, low, stopped, message) => {
    const plans = [plan([0, 'Answer.'], [1, 'Answer.'])];
    const budget = budgetSchema.parse({});
    const poor = await rollouts({ budget: () => ({ ...budget, ...low }) });
    const refusal: unknown = await poor.run(task, workers(), group(plans), AT, NEVER).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(TrainingBudgetError);
    expect(refusal).toMatchObject({ stopped, message: expect.stringMatching(message) });
    const { limit, needed } = (refusal as TrainingBudgetError).stopped;
    expect(needed).toBeGreaterThan(limit);
    expect(poor.spent.usd).toBeLessThan(0.104);
    expect(server.requests).toHaveLength(1);
    const enough = await rollouts({ budget: () => ({ ...budget, [stopped.by]: needed }) });
    expect(await enough.run(task, workers(), group(plans), AT, NEVER)).toMatchObject([{ verified: true }]);
    expect(server.requests).toHaveLength(2);
  });

  it('waits for what others under way set aside and do not cost, before it says that the budget is spent', async () => {
    const made = await rollouts({ budget: () => ({ ...budgetSchema.parse({}), usd: 0.12 }) });
    const plans = Array.from({ length: 4 }, () => plan([0, 'Answer.']));
    expect(await made.run(task, workers(), group(plans), AT, NEVER)).toHaveLength(4);
    expect(server.requests).toHaveLength(4);
    expect(made.spent.usd).toBeLessThan(0.02);
  });

  it('under way goes on with a budget that is raised meanwhile', async () => {
    let usd = 0.104;
    script = () => {
      usd = 5;
      return 'right';
    };
    const made = await rollouts({ budget: () => ({ ...budgetSchema.parse({}), usd }) });
    expect(await made.run(task, workers(), group([plan([0, 'Answer.'], [1, 'Answer.'])]), AT, NEVER)).toMatchObject([{ verified: true }]);
  });

  it('of two steps is on disk by a few commits: one before each request, and one after its end', async () => {
    const made = await rollouts();
    const commits = vi.spyOn(DatabaseSync.prototype, 'exec');
    onTestFinished(() => commits.mockRestore());
    await made.run(task, workers(), group([plan([0, 'Make a plan.'], [1, 'Answer.'])]), AT, NEVER);
    expect(commits.mock.calls.filter(([sql]) => sql === 'COMMIT').length).toBeLessThanOrEqual(4);
  });

  it('of which a write fails ends its training with one sentence, and is carried on without paying for a finished step again', async () => {
    const sqlite = new FailingSqlite();
    const plans = group([plan([0, 'Make a plan.'], [1, 'Answer.'])]);
    let isDone = false;
    let atWrite = 0;
    while (!isDone) {
      atWrite += 1;
      folder = await temporaryFolder();
      const made = await rollouts();
      sqlite.failWith({ code: 13, atWrite });
      const ended = await made.run(task, workers(), plans, AT, NEVER).catch((error: unknown) => error);
      isDone = sqlite.writes < atWrite;
      sqlite.failWith(undefined);
      if (!isDone) {
        expect(ended, `write ${atWrite}`).toMatchObject({ name: 'JournalUnavailableError', message: expect.stringContaining('the disk is full. Free some space') as string });
      }
      for (const open of opened.splice(0).reverse()) open.close();
      expect(await (await rollouts()).run(task, workers(), plans, AT, NEVER), `write ${atWrite}`).toMatchObject([{ verified: true }]);
      const journal = opened.find((open) => open instanceof Journal) as Journal;
      expect(repaid(journal.read('training.3.1.0')), `write ${atWrite}`).toEqual([]);
      expect(journal.budget.reserved('training:training'), `write ${atWrite}`).toEqual({ usd: 0, tokens: 0 });
    }
    expect(atWrite).toBeGreaterThan(10);
  });

  it('ends its training with the error itself where an answer cannot be kept, and is carried on afterwards', async () => {
    const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
    const answers = new AnswerCache({
      get: () => undefined,
      set: () => {
        throw full;
      },
    });
    const plans = group([plan([0, 'Answer.'])]);
    await expect((await rollouts({ answers })).run(task, workers(), plans, AT, NEVER)).rejects.toBe(full);
    expect(await (await rollouts()).run(task, workers(), plans, AT, NEVER)).toMatchObject([{ verified: true }]);
  });

  it('does not wait for the model of its plan, which is sampled already', async () => {
    const limits = new ProviderLimits();
    const planner = workerConfigSchema.parse({ id: 'planner', model: 'mini', provider: 'local' });
    const busy = await limits.acquire(planner, NEVER);
    const made = await rollouts({ planner, caller: new WorkerCaller({ limits, prices: await loadPrices() }) });
    expect(await made.run(task, workers(), group([plan([0, 'Answer.'])]), AT, NEVER)).toMatchObject([{ verified: true }]);
    busy.release();
  });

  it('that is stopped also stops the reading of its answer', async () => {
    const abort = new AbortController();
    const base: ProjectTask = {
      id: 'project', question: 'Fix it.', context: '', base: folder, installed: folder, baseEdits: [], shown: [], testCommand: 'node --test', testRunner: 'node-test',
      checker: {
        parsePatch: () => Promise.reject(new Error('not reached')),
        onBase: (_base, signal) => new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          abort.abort(new Error('paused'));
        }),
        sandboxAvailability: async () => ({ available: true }),
        verify: () => Promise.reject(new Error('not reached')),
      },
    };
    const made = await rollouts();
    await expect(made.run(base, workers(), group([plan([0, 'Answer.'])]), AT, abort.signal)).rejects.toThrow('paused');
  });

  it('that revises a plan runs both of them, without paying for the first again, and is judged by the second', async () => {
    const keep: SampledCompletion = { ...plan([0, 'x']), text: 'model_id = []\nsubtasks = []\naccess_list = []' };
    const made = await rollouts();
    const first = [plan([0, 'Make a plan.']), plan([1, 'Answer.']), plan([0, 'Make a plan.'])];
    await made.run(task, workers(), group(first), AT, NEVER);
    expect(made.pastRounds(AT, { sample: 0 })).toMatchObject([{ planText: first[0]!.text, answer: 'one says plan' }]);
    expect(made.pastRounds(AT, { sample: 7 })).toEqual([]);
    const asked = server.requests.length;
    const revisions = [plan([1, 'Answer better.']), keep, { ...keep, text: 'I keep it.' }].map((completion, sample) => ({ sample, completion, revises: first.slice(sample, sample + 1) }));
    expect(await made.run(task, workers(), revisions, AT, NEVER)).toMatchObject([
      { kind: 'judged', verified: true }, { kind: 'judged', verified: true, costUsd: 0 }, { kind: 'unparseable' },
    ]);
    expect(server.requests).toHaveLength(asked + 1);
    const [once] = revisions;
    const twice = { sample: 0, completion: plan([1, 'Answer best.']), revises: [first[0]!, once!.completion] };
    expect(made.pastRounds(AT, { sample: 0, revises: once!.revises })).toMatchObject([{ planText: first[0]!.text }, { planText: once!.completion.text }]);
    expect(await made.run(task, workers(), [twice], AT, NEVER)).toMatchObject([{ kind: 'judged', verified: true }]);
    expect(server.requests).toHaveLength(asked + 2);
  });

  it('of a task in a project has its patch judged by the task\'s own checker', async () => {
    script = () => '```js title="a.js"\nexport const a = 2;\n```';
    const verdict = { verified: false, score: 0.5, outcome: 'failed', reason: 'Half.', tests: [], notes: [], command: 'x', sandboxed: true, durationMs: 1 } satisfies Verdict;
    const judged: unknown[] = [];
    const project: ProjectTask = {
      id: 'project', question: 'Mend it.', context: '', base: folder, installed: folder, baseEdits: [], shown: ['a.js'], testCommand: 'node --test', testRunner: 'node-test',
      checker: {
        parsePatch: (answer, from, shown) => parsePatch(answer, from, { candidates: shown }),
        onBase: (of, _signal, use) => use(of.base),
        sandboxAvailability: async () => ({ available: true }),
        verify: async (request) => {
          judged.push(request);
          return verdict;
        },
      },
    };
    const made = await rollouts();
    expect(await made.run(project, workers(), group([plan([0, 'Answer.'])]), AT, NEVER)).toMatchObject([{ kind: 'judged', verified: false, score: 0.5 }]);
    expect(judged).toMatchObject([{ base: folder, command: 'node --test', sandboxed: true, patch: { edits: [{ path: 'a.js', after: 'export const a = 2;\n' }] } }]);
    // The prompt that is shown of a rollout later is the one that its plan was sampled from.
    const gatherer = new RolloutGatherer({ rollouts: made, pool: workers(), profile: PROMPT_PROFILES.compact, seed: 1 });
    const sampled = gatherer.prompt(project, AT).messages;
    const run = opened.map((open) => (open instanceof Journal ? open.snapshot('training.3.1.0') : undefined)).find(Boolean) as RunSnapshot;
    expect(planPromptOf(run, 0)?.map(({ role, content }) => ({ role, content }))).toEqual(sampled);
    expect(sampled.at(-1)?.content).toMatch(/judged by: node --test\n\nFILES .*:\na\.js\n\nUSER QUESTION/);
    script = () => 'I would rather not.';
    expect(await made.run(project, workers(), group([plan([1, 'Refuse.'])]), { step: 5, place: 0 }, NEVER)).toMatchObject([{ kind: 'judged', verified: false, score: 0 }]);
  });
});
