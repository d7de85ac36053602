/*
 * What hands, attempts and local first are worth on tasks of real projects, with simulated workers:
 *
 *   node with-node.mjs node test/bench/hands/compare.ts CLONES --keep FILE [--each 10] [--seeds 5] [--only PROJECT]
 *
 * CLONES holds clones of hukkin/tomli, fastify/fast-uri (with its packages installed) and google/uuid. The tasks are mined as a training mines them, and the answers are judged by the
 * real judge, once: what was found is kept in FILE. Each run is one of the product's driver: real prompts, plans, turns in real copies, journal, verdicts as
 * judged. Only the workers are simulated, by a hidden skill: whether an answer is the right one is drawn by its difference to the difficulty of the
 * task. They show nothing about real models.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { availableParallelism, homedir, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import { userPath } from '../../../backend/common/user-path.ts';
import { wordedPlan } from '../../../backend/conductor/plan/form-plan.ts';
import { readQuestion } from '../../../backend/conductor/question/read-question.ts';
import { renderPlan } from '../../../backend/conductor/render-plan.ts';
import { StepCopies } from '../../../backend/hands/step-copies.ts';
import { Journal } from '../../../backend/journal/journal.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { NO_LOCAL_RECORD } from '../../../backend/protocol/local-first.ts';
import { runRequestSchema } from '../../../backend/protocol/run-request.ts';
import { firstPlanned } from '../../../backend/protocol/run-facts.ts';
import { snapshotOf } from '../../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../../backend/protocol/run-snapshot.ts';
import type { ToolCall } from '../../../backend/protocol/tool-calls.ts';
import { isVerified } from '../../../backend/protocol/verdict-facts.ts';
import { budgetSchema, workerConfigSchema, type WorkerConfig } from '../../../backend/protocol/worker-config.ts';
import { ALL_ALIKE } from '../../../backend/records/worker-records.ts';
import { countTokens } from '../../../backend/simulator/simulated-model.ts';
import type { Checker } from '../../../backend/solve/checker.ts';
import { estimateWork } from '../../../backend/solve/estimate-work.ts';
import { failureOf } from '../../../backend/solve/failure.ts';
import type { RunCall } from '../../../backend/solve/round-driver.ts';
import { RunDriver } from '../../../backend/solve/run-driver.ts';
import { RunLedger } from '../../../backend/solve/run-ledger.ts';
import { RunRecorder } from '../../../backend/solve/run-recorder.ts';
import { handsOf } from '../../../backend/solve/step-prompt.ts';
import { ONE_CALL } from '../../../backend/solve/step-work.ts';
import { workWithHands } from '../../../backend/solve/work-with-hands.ts';
import { mean } from '../../../backend/train/statistics/statistics.ts';
import { projectTask } from '../../../backend/train/tasks/project-task.ts';
import { CopyPool } from '../../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { MemoryBaseRunCache } from '../../../backend/verify/judge/base-run-cache.ts';
import type { FileEdit } from '../../../backend/verify/patch/patch.ts';
import { unifiedDiff } from '../../../backend/verify/patch/unified-diff.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../backend/verify/verify.ts';
import type { ModelReply } from '../../../backend/workers/model.ts';
import { minedTasks, PROJECTS, type JudgedAnswer, type MinedTask } from './mined-tasks.ts';

const { values, positionals: [clones] } = parseArgs({
  allowPositionals: true,
  options: { keep: { type: 'string' }, each: { type: 'string', default: '10' }, seeds: { type: 'string', default: '5' }, only: { type: 'string' } },
});
if (clones === undefined || values.keep === undefined) throw new Error('Name the folder with the clones, and a file to keep what was judged: CLONES --keep FILE.');

/** A hidden skill, in the unit of the tasks' difficulty, which is normal; dollars for a million tokens; tokens a second. */
const TEAM = [
  { id: 'local', skill: -0.6, price: [0, 0], speed: 25 },
  { id: 'small', skill: 0.3, price: [0.5, 2], speed: 80 },
  { id: 'large', skill: 1, price: [3, 12], speed: 60 },
] as const;
/** How steeply the chance of a right answer follows skill. */
const SLOPE = 2;
/** Of repeated answers of one worker to one question, this share is the same again, as in the gym. */
const REPEATED = 0.5;
/** Mending what was seen to fail is that much easier than writing, and is tried twice at most, as in the gym. */
const MENDING = 0.7;
const MENDS = 2;
/** The share of plans that name the small worker; the others name the large one. No plan names the free one. */
const SMALL_SHARE = 0.6;
const FIRST_TOKEN_SECONDS = 0.8;
const READ_TOKENS_A_SECOND = 5_000;

interface Variant {
  readonly hands: boolean;
  readonly attempts: number;
  readonly localFirst: boolean;
}

interface Outcome {
  readonly right: boolean;
  readonly verified: boolean;
  readonly usd: number;
  readonly seconds: number;
}

const chance = (difference: number): number => 1 / (1 + Math.exp(-SLOPE * difference));
const skillOf = (worker: string): (typeof TEAM)[number] => TEAM.find(({ id }) => id === worker) ?? TEAM[0];

const poolOf = (hands: boolean): WorkerConfig[] => TEAM.map(({ id, price: [inputPerMillion, outputPerMillion] }) => workerConfigSchema.parse({
  id, provider: 'openai-compatible', model: id, baseUrl: 'http://127.0.0.1:1/v1', simulated: true, price: { inputPerMillion, outputPerMillion }, ...(hands && { hands: 'tools' }),
}));

/** One run of the product's driver. Time is counted, not passed: what the simulated models take, and the processor seconds that the tests took. */
class SimulatedRun {
  readonly #task: MinedTask;
  readonly #random: KeyedRandom;
  readonly #difficulty: number;
  /** How often each worker has written so far. */
  readonly #written = new Map<string, number>();
  /** Of steps with hands: the answer that is in the copy, and how often it was mended. */
  readonly #atWork = new Map<string, { turn: number; answer: number; mends: number }>();
  seconds = 0;

  constructor(task: MinedTask, seed: number) {
    this.#task = task;
    this.#random = new KeyedRandom(seed, 'run', task.record.id);
    const { record: { id } } = task;
    const own = new KeyedRandom('difficulty', id);
    this.#difficulty = Math.sqrt(-2 * Math.log(1 - own.unit('a'))) * Math.cos(2 * Math.PI * own.unit('b'));
  }

  get #wrong(): number[] {
    return this.#task.answers.flatMap((_, index) => (index === 0 ? [] : [index]));
  }

  /** Which answer a worker writes: 0 is the right one. */
  #write(worker: string): number {
    const nth = this.#written.get(worker) ?? 0;
    this.#written.set(worker, nth + 1);
    const draw = nth > 0 && this.#random.chance(`${worker} ${nth} repeats`, REPEATED) ? 0 : nth;
    const isRight = this.#random.chance(`${worker} ${draw} right`, chance(skillOf(worker).skill - this.#difficulty));
    return isRight ? 0 : (this.#random.pick(`${worker} ${draw} wrong`, this.#wrong) ?? 0);
  }

  answerOf(edits: readonly FileEdit[]): JudgedAnswer {
    const after = edits.find(({ path: file }) => file === this.#task.record.path)?.after;
    const known = this.#task.answers.find(({ text }) => text === after);
    if (!known) throw new Error(`No answer to ${this.#task.record.id} was judged that is this one.`);
    return known;
  }

  readonly call = (plan: (round: number) => string): RunCall => async (worker, { messages }, { ledger, attempts }) => {
    const { purpose, round } = attempts;
    const { text, toolCalls }: Pick<ModelReply, 'text' | 'toolCalls'> = purpose.kind === 'plan' ? { text: plan(round) }
      : worker.hands ? this.#turn(worker.id, `${round} ${purpose.step}`) : { text: this.#answered(worker.id) };
    const sent = messages.reduce((sum, message) => sum + countTokens(message.content) + ('toolCalls' in message ? countTokens(JSON.stringify(message.toolCalls ?? '')) : 0), 0);
    const written = countTokens(text) + countTokens(JSON.stringify(toolCalls ?? ''));
    const { price: [input, output], speed } = skillOf(worker.id);
    const usd = (sent * input + written * output) / 1_000_000;
    const durationMs = 1_000 * (FIRST_TOKEN_SECONDS + sent / READ_TOKENS_A_SECOND + written / speed);
    this.seconds += durationMs / 1_000;
    const usage = { uncachedInput: sent, cacheRead: 0, cacheWrite: 0, output: written, reasoning: 0, estimated: false };
    const reserved = { usd, tokens: sent + written };
    const attempt = { attemptId: `${round} ${JSON.stringify(purpose)} ${this.seconds}`, worker: worker.id, number: 1, reserved };
    const reservation = attempts.started(attempt, () => ledger.reserve({ ...reserved, isFree: usd === 0 }));
    const reply: ModelReply = { text, finishReason: 'stop', usage, model: worker.model, ...(toolCalls && { toolCalls }) };
    attempts.succeeded({ ...attempt, reservation }, reply, { usage, cost: { usd, estimated: false }, durationMs });
    return await Promise.resolve(reply);
  };

  /** An answer in the form that keeps it short. */
  #answered(worker: string): string {
    const { record: { path: file, after }, answers } = this.#task;
    const { search, replace } = replacement(after ?? '', answers[this.#write(worker)]?.text ?? '');
    return `Mended:\n\`\`\`text ${file}\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n\`\`\``;
  }

  /** Reads, writes, tests, mends what it sees to fail, tests again. */
  #turn(worker: string, step: string): { text: string; toolCalls?: readonly ToolCall[] } {
    const { record: { path: file, after }, answers } = this.#task;
    const state = this.#atWork.get(step) ?? { turn: 0, answer: -1, mends: 0 };
    this.#atWork.set(step, state);
    state.turn += 1;
    const call = (name: string, given: object): ToolCall => ({ id: `${step} ${state.turn} ${name}`.replaceAll(' ', '-'), name, arguments: JSON.stringify(given) });
    const change = (from: string, to: string): ToolCall[] => [call('edit', { path: file, ...replacement(from, to) }), call('test', {})];
    if (state.turn === 1) return { text: 'I read the file first.', toolCalls: [call('read', { path: file })] };
    if (state.answer === -1) {
      state.answer = this.#write(worker);
      return { text: 'I change it, and test.', toolCalls: change(after ?? '', answers[state.answer]?.text ?? '') };
    }
    const now = answers[state.answer];
    if (!now || isVerified(now.verdict) || now.verdict.outcome === 'passes' || state.mends === MENDS) return { text: 'That is my change.' };
    state.mends += 1;
    const mended = this.#random.chance(`${step} ${worker} mend ${state.mends}`, chance(skillOf(worker).skill + MENDING - this.#difficulty));
    const others = this.#wrong.filter((answer) => answer !== state.answer);
    state.answer = mended ? 0 : (this.#random.pick(`${step} ${worker} other ${state.mends}`, others) ?? state.answer);
    return { text: 'A test fails. I mend it, and test again.', toolCalls: change(now.text, answers[state.answer]?.text ?? '') };
  }
}

/** The smallest region of whole lines that differs, made longer until it is in the text once. */
function replacement(from: string, to: string): { search: string; replace: string } {
  const [a, b] = [from.split('\n'), to.split('\n')];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  for (;;) {
    const search = a.slice(start, a.length - end).join('\n');
    if (search.trim() !== '' && from.split(search).length === 2) return { search, replace: b.slice(start, b.length - end).join('\n') };
    if (start === 0 && end === 0) return { search: from, replace: to };
    start = Math.max(0, start - 1);
    end = Math.max(0, end - 1);
  }
}

const home = await realpath(await mkdtemp(path.join(tmpdir(), 'compare-hands-')));
const tasks = await minedTasks(clones, { file: path.resolve(values.keep), home, each: Number(values.each), seed: 1, only: values.only });
const folders = new RunFolders(path.join(home, 'runs'), isProcessAlive);
const copies = new CopyPool({ folders });
const sandbox = new Sandbox({ searchPath: userPath(process.env), homeFolder: homedir(), folders });
const verifier = new Verifier({ sandbox, folders, copies, baseRuns: new MemoryBaseRunCache() });
const signal = new AbortController().signal;
const journal = Journal.open(path.join(home, 'journal.sqlite'), { isDurable: false });
let runs = 0;

async function solve(mined: MinedTask, { hands, attempts, localFirst }: Variant, seed: number): Promise<Outcome> {
  const { record, project } = mined;
  const { command, runner } = PROJECTS.find(({ name }) => name === project) ?? PROJECTS[0] as (typeof PROJECTS)[number];
  const workspace = path.resolve(clones ?? '', project);
  const task = projectTask(record, { verifier, workspace, files: workspace, test: { command, runner }, sandboxAvailability: () => Promise.resolve({ available: true }) });
  const simulated = new SimulatedRun(mined, seed);
  const runSeconds = mean(mined.answers.filter(({ verdict: { outcome } }) => outcome === 'failed').map(({ seconds }) => seconds));
  const checker: Checker = {
    ...task.checker,
    findTestCommands: () => Promise.resolve([]),
    runnerOf: () => Promise.resolve(runner),
    verify: ({ patch }) => {
      const { verdict, seconds } = simulated.answerOf(patch.edits);
      simulated.seconds += seconds;
      return Promise.resolve(verdict);
    },
  };
  const stepCopies = new StepCopies({
    copies, sandbox, folders, ripgrepPath: rgPath,
    verifier: {
      surroundings: (options, run) => verifier.surroundings(options, run),
      tryTests: ({ patch }) => {
        simulated.seconds += runSeconds;
        const { verdict: { tests, reason } } = simulated.answerOf(patch.edits);
        const results = tests.flatMap(({ id, after, message }) => (after === 'passed' || after === 'failed' ? [{ id, kind: 'test' as const, status: after, ...(message !== undefined && { message }) }] : []));
        return Promise.resolve({ results, exitCode: results.some(({ status }) => status === 'failed') ? 1 : 0, said: '', ...(results.length === 0 && { problem: reason }) });
      },
    },
  });
  const pool = poolOf(hands);
  const [, small] = pool as [WorkerConfig, WorkerConfig];
  const question = readQuestion(record.question, { inProject: true });
  const drawn = new KeyedRandom(seed, 'plans', record.id);
  const plan = (round: number): string => renderPlan(wordedPlan([{
    role: 'write', worker: drawn.chance(`plan ${round - firstPlanned(recorder.snapshot)}`, SMALL_SHARE) ? 1 : 2, reads: [], readsAll: false,
  }], question, round));
  const runId = `r${(runs += 1)}`;
  const accepted = journal.accept(runId, {
    type: 'run.accepted', kind: 'solve', asks: { kind: question.kind, wants: question.wants }, pool, policy: { kind: 'endpoint', worker: small, model: small.model, promptVersion: '1' },
    request: runRequestSchema.parse({ question: record.question, workspace, rounds: 1, attempts, localFirst, testCommand: command, testRunner: runner }),
    budget: budgetSchema.parse({ runUsd: 100, runTokens: 100_000_000, dayUsd: 100_000, dayTokens: 100_000_000_000 }),
  });
  const recorder = new RunRecorder(snapshotOf([accepted]), { append: (events, effects) => journal.append(runId, events, effects) }, { onEvent: () => {}, onText: () => {} });
  await new RunDriver({
    recorder, checker, failureOf, signal,
    ledger: new RunLedger({ run: recorder.snapshot, budget: journal.budget, now: Date.now }),
    call: simulated.call(plan),
    gatherContext: () => Promise.resolve({ pieces: record.shown.map((file) => ({ path: file, startLine: 1, endLine: 1, reason: 'the task is about it', tokens: 0 })), leftOut: [], tokens: countTokens(record.context), text: record.context }),
    taskBase: { installed: workspace, baseEdits: task.baseEdits },
    workOf: (_worker, place) => (handsOf(place.run, place.step.worker) ? workWithHands({ copies: stepCopies, checker }, place) : ONE_CALL),
    estimateOf: (run, round, of) => estimateWork(run, round, of, [], { usd: 100, tokens: 1e9 }),
    triesBy: () => ({ expected: ALL_ALIKE, tries: NO_LOCAL_RECORD }),
    confirmUnsandboxed: () => Promise.resolve(false),
  }).drive();
  return outcomeOf(recorder.snapshot, mined, simulated.seconds);
}

function outcomeOf(run: RunSnapshot, { record, answers: [right] }: MinedTask, seconds: number): Outcome {
  if (run.state !== 'completed') throw new Error(`A run ended as ${run.state}: ${run.message ?? ''}`);
  const verdict = run.rounds[run.answerRound ?? 0]?.verdict;
  const verified = verdict !== undefined && isVerified(verdict);
  const offered = run.rounds[run.answerRound ?? 0]?.answer?.edits[0]?.diff;
  const wanted = unifiedDiff({ path: record.path, kind: 'modify', before: record.after, after: right?.text ?? '' });
  return { verified, right: offered === wanted, usd: run.spent.usd, seconds };
}

/** Half of the 95 % interval of a mean of tasks: other tasks would give another mean. */
function halfWidth(means: readonly number[]): number {
  const middle = mean(means);
  const variance = means.reduce((sum, one) => sum + (one - middle) ** 2, 0) / Math.max(1, means.length - 1);
  return 1.96 * Math.sqrt(variance / means.length);
}

const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => index + 1);
const variants = [false, true].flatMap((localFirst) => [1, 3].flatMap((attempts) => [false, true].map((hands): Variant => ({ hands, attempts, localFirst }))));
console.log(`${tasks.length} tasks (${PROJECTS.map(({ name }) => `${tasks.filter(({ project }) => project === name).length} of ${name}`).join(', ')}), ${seeds.length} seeds; ${availableParallelism()} processors, load ${loadavg()[0]?.toFixed(1)}\n`);
console.log('| step | attempts | local first | right | wrong, yet verified | $ a task | seconds a task |\n|---|---:|---|---:|---:|---:|---:|');
try {
  for (const variant of variants) {
    const byTask: Outcome[][] = [];
    for (const task of tasks) {
      const own: Outcome[] = [];
      for (const seed of seeds) own.push(await solve(task, variant, seed));
      byTask.push(own);
    }
    const outcomes = byTask.flat();
    const share = (of: (outcome: Outcome) => boolean): string => `${(100 * mean(outcomes.map((one) => Number(of(one))))).toFixed(0)} %`;
    console.log(`| ${variant.hands ? 'with hands' : 'one call'} | ${variant.attempts} | ${variant.localFirst ? 'on' : 'off'} | ${share(({ right }) => right)} ± ${(100 * halfWidth(byTask.map((own) => own.filter(({ right }) => right).length / own.length))).toFixed(0)} | ${share(({ right, verified }) => verified && !right)} | ${mean(outcomes.map(({ usd }) => usd)).toFixed(4)} | ${mean(outcomes.map(({ seconds }) => seconds)).toFixed(0)} |`);
  }
} finally {
  journal.close();
  await copies.close();
  await rm(home, { recursive: true, force: true });
}
