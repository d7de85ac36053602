import { copyFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { budgetSchema, workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { planPromptOf } from '../../backend/solve/plan-prompt.ts';
import type { SampledPlan } from '../../backend/train/grpo/gatherer.ts';
import { AnswerFile } from '../../backend/train/rollouts/answer-file.ts';
import { RolloutGatherer } from '../../backend/train/rollouts/rollout-gatherer.ts';
import { RolloutRunner } from '../../backend/train/rollouts/rollout-runner.ts';
import { projectTask } from '../../backend/train/tasks/project-task.ts';
import { agentRunner } from '../../backend/wiring/agents.ts';
import { AnswerCache } from '../../backend/workers/answer-cache.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { PROJECT, withHands } from '../hands/setup.ts';
import { edit, fence, plan } from '../solve/hands-team.ts';
import { ScriptedServer, type ScriptedAnswer } from '../support/scripted-server.ts';

/* Rollouts whose workers have hands: the wire of real workers, a real journal, real copies, the real sandbox and real verdicts. */

const BROKEN = PROJECT['src/shapes.js'];
const RIGHT = BROKEN.replace('width + height', 'width * height');
const AT = { step: 0, place: 0 };
const NEVER = new AbortController().signal;

/** The project is right, and the task is a bug in it. */
async function setUp(replies: Readonly<Record<string, readonly ScriptedAnswer[]>>) {
  const { workspace, home, copies, verifier, sandbox, folders } = await withHands({ ...PROJECT, 'src/shapes.js': RIGHT });
  const asked = new Map<string, number>();
  let onRequest = (): void => {};
  const server = await ScriptedServer.start(({ model }) => {
    const count = asked.get(model) ?? 0;
    asked.set(model, count + 1);
    onRequest();
    return replies[model]?.[count] ?? 'I have nothing more to say.';
  });
  const journal = Journal.open(path.join(home, 'journal.sqlite'));
  const answers = new AnswerFile(path.join(home, 'answers.sqlite'));
  onTestFinished(async () => {
    answers.close();
    journal.close();
    await server.close();
  });
  const agentHome = path.join(home, 'person');
  await mkdir(agentHome);
  await copyFile(fileURLToPath(new URL('../workers/acp/fake-agent.ts', import.meta.url)), path.join(agentHome, 'fake-agent.ts'));
  const prices = await loadPrices();
  const rollouts = (): RolloutRunner => new RolloutRunner({
    journal, prices, hands: { copies },
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices, runAgent: agentRunner({ sandbox, folders, searchPath: process.env['PATH'] ?? '', homeFolder: agentHome }) }),
    keys: { get: () => Promise.reject(new Error('no key is needed')), forget: () => {} },
    answers: new AnswerCache(answers),
    name: 'training', scope: 'training:training', kind: 'rollout',
    budget: () => budgetSchema.parse({}),
    planner: workerConfigSchema.parse({ id: 'planner', model: 'mini', provider: 'local' }),
    parallel: 4,
    onWaiting: () => {},
    delay: async () => {},
    now: Date.now,
  });
  const task = projectTask({
    id: 'task', split: 'train', kind: 'repair', question: 'area() is wrong, please mend it.', context: BROKEN, shown: ['src/shapes.js'],
    path: 'src/shapes.js', before: RIGHT, after: BROKEN, targets: ['test/shapes.test.js > area'],
  }, { verifier, workspace, files: workspace, test: { command: 'node --test', runner: 'node-test' }, sandboxAvailability: async () => ({ available: true }) });
  const worker = (id: string, more: object): WorkerConfig => workerConfigSchema.parse({
    id, model: id, provider: 'openai-compatible', baseUrl: server.baseUrl, maxOutputTokens: 500, price: { inputPerMillion: 10, outputPerMillion: 100 }, ...more,
  });
  const of = (runId: string): RunSnapshot => journal.snapshot(runId) as RunSnapshot;
  return { server, workspace, journal, rollouts, task, worker, of, whenAsked: (call: () => void) => void (onRequest = call) };
}

const group = (...plans: readonly string[]): SampledPlan[] => plans.map((text, sample) => ({
  sample, completion: { text, promptTokens: [1], tokens: [2], logprobs: [-1], finishReason: 'stop' },
}));

it('a rollout\'s worker with hands works in a copy of the task, not of the project that holds the answer, and its change is judged', async () => {
  const { server, workspace, rollouts, task, worker, of } = await setUp({
    hands: [fence('run', 'cat src/shapes.js'), fence('test'), edit('src/shapes.js', 'width + height', 'width * height'), fence('test'), 'Mended.'],
    plain: ['I would not know.'],
  });
  const pool = [worker('hands', { hands: 'fenced' }), worker('plain', {})];
  const made = rollouts();
  const outcomes = await made.run(task, pool, group(plan([[0, 'Mend area.', []]]), plan([[1, 'Mend area.', []]])), AT, NEVER);
  expect(outcomes).toMatchObject([{ kind: 'judged', verified: true, score: 1 }, { kind: 'judged', verified: false, score: 0 }]);
  const run = of('training.0.0.0');
  const [step] = run.rounds[0]?.steps ?? [];
  expect(step?.turns?.map(({ observation }) => observation)).toEqual([
    expect.stringContaining('return width + height;'), expect.stringMatching(/area[\s\S]*failed|failed[\s\S]*area/),
    expect.stringContaining('src/shapes.js is changed'), expect.stringMatching(/2 .*passed/),
  ]);
  expect(step?.changes).toEqual([{ path: 'src/shapes.js', line: 2, removed: '  return width + height;\n', inserted: '  return width * height;\n' }]);
  expect(outcomes[0]).toMatchObject({ costUsd: step?.spent.usd });
  expect(server.of('hands')).toHaveLength(5);
  expect(await readFile(path.join(workspace, 'src/shapes.js'), 'utf8')).toBe(RIGHT);

  // The prompt that is shown of the rollout is the one that its plan was sampled from, and says who has hands.
  const sampled = new RolloutGatherer({ rollouts: made, pool, profile: PROMPT_PROFILES.compact, seed: 1 }).prompt(task, AT).messages;
  expect(planPromptOf(run, 0)?.map(({ role, content }) => ({ role, content }))).toEqual(sampled);
  expect(sampled.at(-1)?.content ?? '').toMatch(/Worker 0: \[reads, edits and runs[^\n]*\nWorker 1(?!: \[reads)/);

  // The same sample of a later group says the same and is paid for once; what it does is done again.
  expect(await made.run(task, pool, group(plan([[0, 'Mend area.', []]])), { step: 5, place: 0 }, NEVER)).toMatchObject([{ verified: true }]);
  expect(server.of('hands')).toHaveLength(5);
  expect(of('training.5.0.0').rounds[0]?.steps[0]?.changes).toEqual(step?.changes);
}, 180_000);

it('the folder of the project cannot be read from a rollout\'s copy', async () => {
  const replies: string[] = [];
  const { workspace, rollouts, task, worker, of } = await setUp({ hands: replies });
  replies.push(fence('run', `cat ${workspace}/src/shapes.js; cat ${workspace}/package.json; ls -a ${workspace}`), 'I saw nothing.');
  await rollouts().run(task, [worker('hands', { hands: 'fenced' })], group(plan([[0, 'Look.', []]])), AT, NEVER);
  const seen = of('training.0.0.0').rounds[0]?.steps[0]?.turns?.[0]?.observation ?? '';
  expect(seen).toContain('No such file');
  expect(seen).not.toContain('width * height');
}, 180_000);

it('a rollout that was left in the middle of a step goes on at its last turn, with its change, and pays for no turn twice', async () => {
  const { server, rollouts, task, worker, of, whenAsked } = await setUp({
    hands: [edit('src/shapes.js', 'width + height', 'width * height'), fence('run', 'cat src/shapes.js'), 'Mended.'],
  });
  const pool = [worker('hands', { hands: 'fenced' })];
  const abort = new AbortController();
  whenAsked(() => server.requests.length >= 2 && abort.abort(new Error('The machine was turned off.')));
  await expect(rollouts().run(task, pool, group(plan([[0, 'Mend area.', []]])), AT, abort.signal)).rejects.toThrow('turned off');
  whenAsked(() => {});
  expect(await rollouts().run(task, pool, group(plan([[0, 'Mend area.', []]])), AT, NEVER)).toMatchObject([{ verified: true }]);
  const turns = of('training.0.0.0').rounds[0]?.steps[0]?.turns ?? [];
  expect(turns[0]?.changes).toHaveLength(1);
  // The call that was lost is made again; those before it are not.
  expect(server.of('hands').filter(({ messages }) => messages.length === 1)).toHaveLength(1);
}, 180_000);

it('changes that another step reads are tried on the task, and an agent works in a copy of it', async () => {
  const { rollouts, task, worker, of } = await setUp({
    plain: ['```js title="src/shapes.js"\nexport function area(width, height) {\n  return width - height;\n}\n```'],
    hands: ['The agent is right.'],
  });
  const agent = workerConfigSchema.parse({
    id: 'agent', provider: 'acp', model: 'default',
    agent: { command: ['/bin/sh', '-c', 'exec "$FAKE_NODE" "$HOME/fake-agent.ts" edit', 'fake-agent'], home: ['fake-agent.ts'], env: { FAKE_NODE: process.execPath }, minutes: 1, stepTokens: 5_000 },
  });
  const pool = [agent, worker('plain', {}), worker('hands', { hands: 'fenced' })];
  const steps = plan([[0, 'Mend area.', []], [1, 'Mend area.', []], [2, 'Choose.', [0, 1]]]);
  await rollouts().run(task, pool, group(steps), AT, NEVER);
  const [byAgent, byPlain] = of('training.0.0.0').rounds[0]?.steps ?? [];
  expect(byAgent?.changes).toEqual([{ path: 'src/shapes.js', line: 2, removed: '  return width + height;\n', inserted: '  return width * height;\n' }]);
  expect([byAgent?.trial?.result?.failed, byPlain?.trial?.result?.failed]).toEqual([0, expect.any(Number)]);
}, 180_000);
