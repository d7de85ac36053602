/*
 * From a paid planner to a free one, by the commands that people use: sixty questions on a real project, planned by a prompted Conductor, `conductor learn`,
 * and twenty new questions for each Conductor.
 *
 *   node with-node.mjs node test/bench/learn/sixty-questions.ts CLONE --keep FOLDER [--questions 60] [--new 20] [--seed 1] [--good 0.5] [--learner DIR --steps 3]
 *
 * With --learner, the model of that folder learns instead of conductor-mini, and is then trained by GRPO on the tests of the same project, for so many steps.
 * CLONE is a clone of mahmoud/boltons. FOLDER keeps the tasks, the answers and the homes of the runs; it goes on where it was stopped. Questions, plans, prompts, journal,
 * tests, verdicts, learning and the gate are the product's. The workers and the prompted Conductor are played by a server on this machine, by hidden skill:
 * they show nothing about real models.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import { renderPlan } from '../../../backend/conductor/render-plan.ts';
import { trainingSchema } from '../../../backend/protocol/training.ts';
import { roleOfStep } from '../../../backend/protocol/step-role.ts';
import { findCandidates } from '../../../backend/train/tasks/candidates.ts';
import { mean } from '../../../backend/train/statistics/statistics.ts';
import { unifiedDiff } from '../../../backend/verify/patch/unified-diff.ts';
import type { runResult } from '../../../backend/cli/run-result.ts';
import { ScriptedServer, type ScriptedRequest } from '../../support/scripted-server.ts';
import { git } from '../context/historic-fix.ts';
import { answersTo } from '../hands/mined-tasks.ts';

const { values, positionals: [clone] } = parseArgs({
  allowPositionals: true,
  options: { keep: { type: 'string' }, questions: { type: 'string', default: '60' }, new: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' }, good: { type: 'string', default: '0.5' },
    learner: { type: 'string' }, steps: { type: 'string', default: '3' } },
});
if (clone === undefined || values.keep === undefined) throw new Error('Name the clone, and a folder to keep what was found: CLONE --keep FOLDER.');
const [asked, fresh, seed] = [Number(values.questions), Number(values.new), Number(values.seed)];
const keep = path.resolve(values.keep);
const PROJECT = { name: 'boltons', command: 'python3 -m pytest', runner: 'pytest' };

/** Workers of one price and one description. The chance that what one writes is right is hidden. */
const TEAM = [{ id: 'north', skill: 0.15 }, { id: 'east', skill: 0.1 }, { id: 'south', skill: 0.95 }, { id: 'west', skill: 0.15 }];
/** The worker that the prompted Conductor prefers. It knows its workers a little: the share --good of its plans is for this one. */
const GOOD = 2;
const PRICE = { inputPerMillion: 1, outputPerMillion: 4 };
const PLANNER = { id: 'planner', price: { inputPerMillion: 3, outputPerMillion: 15 } };

/** Shapes of the prompted Conductor's plans, in its own words. */
const SHAPES = [
  { subtasks: ['Write the corrected function as a diff of its file.'], reads: [[]] },
  { subtasks: ['Diagnose what is wrong, and name the lines. Change nothing.', 'Write the fix as diagnosed, as a diff.'], reads: [[], [0]] },
  { subtasks: ['Write the fix as a diff.', 'Review the fix case by case, and return it as it should be.'], reads: [[], [0]] },
] as const;

type Result = ReturnType<typeof runResult>;

/** What is asked at the moment: questions are asked one after another. */
let now: Asking | undefined;

interface Asking {
  readonly task: Task;
  readonly wrong: readonly string[];
  readonly index: number;
  readonly calls: Map<string, number>;
}

/** A training asks about many tasks at once: the question tells which. */
const inTraining = (text: string): Asking | undefined => {
  const asking = trainedTasks.find(({ task }) => text.includes(task.question));
  callsInTraining += 1;
  return asking && { ...asking, calls: new Map(TEAM.map(({ id }) => [id, callsInTraining])) };
};
let trainedTasks: readonly Asking[] = [];
let callsInTraining = 0;

function answer({ model, text }: ScriptedRequest): string {
  const asking = now ?? inTraining(text);
  if (!asking) return 'Nothing was asked.';
  const { task, wrong, index, calls } = asking;
  const call = calls.get(model) ?? 0;
  calls.set(model, call + 1);
  if (model === PLANNER.id) return plan(index, call);
  const random = new KeyedRandom(seed, 'answer', task.id, model, call);
  const [, subtask = ''] = /^Your subtask: (.*)$/m.exec(text) ?? [];
  const role = roleOfStep(subtask);
  if (role === 'plan') return `Look at ${task.path}, at the function that the failing tests call. I did not change anything.`;
  const diff = (content: string): string => `\`\`\`diff\n${unifiedDiff({ path: task.path, kind: 'modify', before: task.after, after: content })}\`\`\``;
  const [right, spoilt] = [diff(task.before), diff(random.pick('which', wrong) ?? task.after)];
  // Who reviews a right fix leaves it as it is.
  if (role === 'check' && text.includes(right)) return right;
  return random.chance('right', TEAM.find(({ id }) => id === model)?.skill ?? 0) ? right : spoilt;
}

function plan(index: number, call: number): string {
  const random = new KeyedRandom(seed, 'plan', index, call);
  const { subtasks, reads } = random.pick('shape', [...SHAPES]) ?? SHAPES[0];
  const others = TEAM.flatMap((_, worker) => (worker === GOOD ? [] : [worker]));
  const isForGood = random.chance('who', Number(values.good));
  const modelIds = subtasks.map((_, step) => (isForGood ? GOOD : random.pick(`step ${step}`, others) ?? 0));
  return `Let me think about who could do this.\n\n${renderPlan({ modelIds, subtasks: [...subtasks], accessList: reads.map((read) => [...read]) })}`;
}

async function conductor(home: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [path.resolve('run-cli.mjs'), ...args], { env: { ...process.env, CONDUCTOR_HOME: home }, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(child, 'close');
  return said;
}

interface Asked {
  readonly verified: boolean;
  readonly first: boolean;
  readonly planningUsd: number;
  readonly usd: number;
  readonly rounds: number;
  readonly good: boolean;
}

async function ask(home: string, workspace: string, task: Task, index: number): Promise<Asked> {
  now = { task, wrong: (await answersTo(task, seed)).slice(1, -1), index, calls: new Map() };
  await writeFile(path.join(workspace, task.path), task.after);
  try {
    const said = await conductor(home, ['solve', task.question, '-w', workspace, '--test-command', PROJECT.command, '--runner', PROJECT.runner, '--json', '--yes']);
    const { rounds, verified, spent, message } = JSON.parse(said) as Result;
    const [first] = rounds;
    if (!first) throw new Error(`No plan: ${message}`);
    return {
      verified, first: first.verdict?.outcome === 'verified', rounds: rounds.length, usd: spent.usd ?? 0,
      planningUsd: rounds.reduce((sum, { planning }) => sum + (planning?.usd ?? 0), 0),
      good: first.steps.some(({ worker, subtask }) => worker === TEAM[GOOD]?.id && roleOfStep(subtask) === 'write'),
    };
  } finally {
    await writeFile(path.join(workspace, task.path), task.before);
    now = undefined;
  }
}

interface Task {
  readonly id: string;
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly question: string;
}

/** Functions to write again, as a training makes them, of which the tests notice that they are missing: one run each, in the folder of the questions. */
async function tasksOf(workspace: string, count: number): Promise<readonly Task[]> {
  const file = path.join(keep, `tasks-${seed}.json`);
  const kept = await readFile(file, 'utf8').then((text) => JSON.parse(text) as Task[], (): Task[] => []);
  if (kept.length >= count) return kept.slice(0, count);
  const paths = new Set((await readdir(path.join(workspace, 'boltons'))).map((name) => `boltons/${name}`));
  const { candidates } = await findCandidates({ workspace, folder: workspace, paths }, { seed, kinds: ['write'] }, new AbortController().signal);
  const tasks = [...kept];
  for (const { edits: [edit], questionOf, about } of candidates) {
    if (tasks.length === count) break;
    if (!edit || edit.before === null || edit.after === null || tasks.some(({ id }) => id === about)) continue;
    await writeFile(path.join(workspace, edit.path), edit.after);
    const { status, stdout } = spawnSync('python3', ['-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider'], { cwd: workspace, encoding: 'utf8', timeout: 60_000 });
    await writeFile(path.join(workspace, edit.path), edit.before);
    const isNoticed = status === 1 && /^FAILED /m.test(stdout);
    console.error(`${about}: ${isNoticed ? 'noticed' : 'left out'}`);
    if (isNoticed) tasks.push({ id: about, path: edit.path, before: edit.before, after: edit.after, question: questionOf('') });
  }
  await writeFile(file, JSON.stringify(tasks));
  return tasks;
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;
const cents = (usd: number): string => (100 * usd).toFixed(2);

function row(name: string, answers: readonly Asked[]): string {
  const share = (of: (one: Asked) => boolean): string => percent(mean(answers.map((one) => Number(of(one)))));
  return `| ${name} | ${answers.length} | ${share(({ good }) => good)} | ${share(({ first }) => first)} | ${share(({ verified }) => verified)} | ${cents(mean(answers.map(({ planningUsd }) => planningUsd)))} | ${cents(mean(answers.map(({ usd }) => usd)))} |`;
}

await mkdir(keep, { recursive: true });
const workspace = path.join(keep, 'boltons');
await rm(workspace, { recursive: true, force: true });
await cp(path.resolve(clone), workspace, { recursive: true, filter: (from) => path.basename(from) !== '.git' });
const tasks = await tasksOf(workspace, asked + fresh);
if (tasks.length < asked + fresh) throw new Error(`Only ${tasks.length} tasks could be made.`);
const server = await ScriptedServer.start(answer);

const workers = TEAM.map(({ id }) => ({ id, model: id, provider: 'openai-compatible', baseUrl: server.baseUrl, description: 'A general language model.', price: PRICE }));
const planner = { ...PLANNER, model: PLANNER.id, provider: 'openai-compatible', baseUrl: server.baseUrl, enabled: false };
const learner = values.learner === undefined ? [] : [{ id: 'learner', model: path.resolve(values.learner), provider: 'local', enabled: false }];
const setUp = (home: string, conductorId: string): Promise<void> =>
  writeFile(path.join(home, 'workers.json'), JSON.stringify({ version: 1, workers: [...workers, planner, ...learner], conductor: conductorId, budget: { dayUsd: 1_000, dayTokens: 1_000_000_000 } }));

/** The home as it is after the questions, for one Conductor alone; as it was left, where it answered some. */
async function copyOf(home: string, name: string, conductorId: string): Promise<string> {
  const copy = path.join(keep, `home-${name}`);
  if ((answers[name] ?? []).length > 0) return copy;
  await rm(copy, { recursive: true, force: true });
  await cp(home, copy, { recursive: true, filter: (from) => path.basename(from) !== 'verify' });
  await setUp(copy, conductorId);
  return copy;
}

/** By who plans. What is there is not asked again. */
const answersFile = path.join(keep, `answers-${seed}.json`);
const answers = await readFile(answersFile, 'utf8').then((text) => JSON.parse(text) as Record<string, Asked[]>, (): Record<string, Asked[]> => ({}));

async function askAll(name: string, home: string, { from, to }: { readonly from: number; readonly to: number }): Promise<readonly Asked[]> {
  const list = (answers[name] ??= []);
  for (let index = from + list.length; index < to; index += 1) {
    list.push(await ask(home, workspace, tasks[index] as Task, index));
    await writeFile(answersFile, JSON.stringify(answers));
    console.error(`${name}, ${index - from + 1} of ${to - from}: ${JSON.stringify(list.at(-1))}`);
  }
  await conductor(home, ['backend', 'stop']);
  return list;
}

/** A short training by GRPO on functions of the project that its tests notice. @returns what its steps were like, as a table */
async function trainOnTests(home: string): Promise<string> {
  trainedTasks = await Promise.all(tasks.map(async (task, index) => ({ task, wrong: (await answersTo(task, seed)).slice(1, -1), index, calls: new Map<string, number>() })));
  const config = path.join(keep, 'train.json');
  await writeFile(config, JSON.stringify({
    steps: Number(values.steps), tasksPerStep: 2, groupSize: 4, maxTokens: 200, parallel: 2, unpaidUpdates: 0, learningRate: { peak: 1e-4 },
    tasks: { count: 8, kinds: ['write'], test: { command: PROJECT.command, runner: PROJECT.runner } },
    evaluation: { samples: 1, onTheWay: 0 },
  }));
  const training = trainingSchema.parse(JSON.parse(await conductor(home, ['train', '-w', workspace, '--config', config, '--yes', '--json'])));
  return `\`conductor train\`: ${training.message ?? training.state}\n${training.metrics.map((step) => JSON.stringify(step)).join('\n')}`;
}

try {
  const home = path.join(keep, 'home');
  if ((answers['asked'] ?? []).length === 0) await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true, mode: 0o700 });
  await setUp(home, PLANNER.id);
  const first = await askAll('asked', home, { from: 0, to: asked });

  const learned = await copyOf(home, values.learner === undefined ? 'learned' : 'learner', values.learner === undefined ? PLANNER.id : 'learner');
  const callsBefore = server.requests.length;
  const training = trainingSchema.parse(JSON.parse(await conductor(learned, ['learn', '--json'])));
  const { logged } = training;
  const paid = server.requests.length - callsBefore;
  if (logged?.says === 'better') await conductor(learned, ['train', 'adopt', training.trainingId]);
  const said = `\`conductor learn\`: ${training.message ?? training.state} ${paid} calls to workers. ${JSON.stringify(logged)}`;
  const at = `mahmoud/boltons at ${(await git(path.resolve(clone), 'rev-parse', 'HEAD')).trim()}, seed ${seed}.`;
  if (values.learner !== undefined) {
    console.log([at, '', said, '', await trainOnTests(learned)].join('\n'));
    process.exit();
  }

  const rows = [row('prompted, the questions that were learned from', first)];
  const contestants = [
    { name: 'prompted', label: 'prompted', home: await copyOf(home, 'prompted', PLANNER.id) },
    { name: 'mini', label: 'conductor-mini, without records', home: await copyOf(home, 'mini', 'conductor-mini'), records: 'off' },
    { name: 'records', label: 'conductor-mini, with records', home: await copyOf(home, 'records', 'conductor-mini') },
    ...(logged?.says === 'better' ? [{ name: 'learned', label: 'conductor-mini, after `conductor learn`', home: learned }] : []),
  ];
  for (const { name, label, home: own, records } of contestants) {
    if (records) await conductor(own, ['records', records]);
    rows.push(row(label, await askAll(name, own, { from: asked, to: asked + fresh })));
  }

  console.log([
    at, '', said, '',
    '| who plans | questions | the good worker writes | verified, first plan | verified | cents for planning | cents in all |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows,
  ].join('\n'));
} finally {
  await server.close();
}
