import { createHash } from 'node:crypto';
import { rmdir } from 'node:fs/promises';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { ContextGatherer } from '../context/gather-context.ts';
import { IndexFolder } from '../context/symbols/index-folder.ts';
import { SymbolIndexes } from '../context/symbols/symbol-indexes.ts';
import { takeFolder } from '../eval/evaluation/evaluation-folder.ts';
import type { KeptEvaluation } from '../eval/evaluation/kept-evaluation.ts';
import type { PlannerChoice } from '../eval/evaluation/line-up.ts';
import { Evaluation, type TaskSource } from '../eval/evaluation/open-evaluation.ts';
import { EvaluationRequestError } from '../eval/evaluation/request-error.ts';
import type { EvaluationRequest, OpenedEvaluation, WhilePreparing } from '../eval/evaluation/request.ts';
import { isWithin, readFileTasks, type SpecifiedTask } from '../eval/evaluation/file-tasks.ts';
import { knownAnswers } from '../eval/evaluation/known-answers.ts';
import { projectSource, type ProjectEvalTask } from '../eval/evaluation/project-source.ts';
import { isSweBenchFile, readSweBench } from '../eval/swe-bench/rows.ts';
import { sweBenchSource, type SweBenchTask } from '../eval/swe-bench/source.ts';
import type { FiledTask } from '../eval/evaluation/evaluate.ts';
import { readOwnExamples } from '../eval/evaluation/own-examples.ts';
import { profileWith } from '../eval/conductor-profile.ts';
import { readConductor, switchWords } from '../eval/conductor-switches.ts';
import { profileOf } from '../conductor/prompt-profile.ts';
import type { EvalTask } from '../eval/run-plan.ts';
import { byKey, sameTestResults, type SameAnswer } from '../eval/voting.ts';
import { GymGrades } from '../lab/gym/gym-grades.ts';
import { TRAINING_POOL } from '../lab/gym/gym-pools.ts';
import { gymTasks, type GymTask } from '../lab/gym/gym-tasks.ts';
import { VERSION } from '../protocol/product-version.ts';
import { StepCopies } from '../hands/step-copies.ts';
import { GYM_TASKS, PROJECT_TASKS } from '../protocol/contestants.ts';
import { evaluationRequestSchema } from '../protocol/evaluation-request.ts';
import { modelHere } from '../protocol/served.ts';
import { BUNDLED_MODEL, workerConfigSchema, type WorkerConfig, type WorkersFile } from '../protocol/worker-config.ts';
import type { KnownAnswers } from '../simulator/known-answers.ts';
import { SimulatorServer } from '../simulator/server.ts';
import { answerCode } from '../verify/graders/answer-code.ts';
import { ProgramSandbox } from '../verify/graders/code/program-sandbox.ts';
import { sameAnswerFor } from '../verify/graders/tasks/same-answer.ts';
import type { ClientModel } from '../workers/adapters/client-model.ts';
import { WorkerCaller } from '../workers/call-worker.ts';
import type { KeySource } from '../workers/key-source.ts';
import { loadPrices } from '../workers/limits/prices.ts';
import { ProviderLimits } from '../workers/limits/provider-limits.ts';
import { loadWorkersFile } from '../workers/workers-file.ts';
import { findBundledModel } from './bundled-model.ts';
import { mathComparer } from './math-comparer.ts';
import { modelParts, type ModelParts } from './models.ts';
import { knowingRule } from './simulated-knowledge.ts';
import { taskMaker } from './task-maker.ts';
import { openVerificationParts, type VerificationParts } from './verification.ts';

/* Wires an evaluation: tasks, graders, workers, and for a simulated pool their server. */

export interface EvaluationWiring extends WhilePreparing {
  /** Conductor's own folder. */
  readonly home: string;
  readonly keys: KeySource;
  readonly host: KeptEvaluation['host'];
  /** Of the backend, which has them open. Otherwise they are opened, and closed at the end. */
  readonly parts?: EvaluationParts | undefined;
}

/** What an evaluation shares with other work of its process. */
export interface EvaluationParts {
  readonly verification: VerificationParts;
  readonly localModel: ModelParts['localModel'];
  readonly servedModels: ModelParts['servedModels'];
  /** Its slots are those of all calls. */
  readonly caller: Pick<WorkerCaller, 'call'>;
  readonly clientModel: ClientModel;
}

/** Number of tasks of the gym, unless a limit says otherwise. */
const MOST_GYM_TASKS = 60;

/** Most tasks of a project, unless a limit says otherwise: each has to be admitted by several runs of its tests. */
const MOST_PROJECT_TASKS = 24;

/** @throws EvaluationRequestError, TaskFileError, ConfigFileError, EvaluationFileError, and what making tasks of a project throws. The caller closes it. */
export async function openEvaluation(request: EvaluationRequest, { home, keys, host, parts, signal, onPreparing }: EvaluationWiring): Promise<OpenedEvaluation> {
  const closing: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.toReversed()) await step();
  };
  let isNewFolder = false;
  try {
    const workersFile = await loadWorkersFile(path.join(home, 'workers.json'));
    // Making tasks takes minutes, and is in vain without workers.
    if (!request.simulated) poolOf(workersFile.workers, request.pool, false);
    isNewFolder = await takeFolder(request.folder);
    const verification = parts?.verification ?? await openVerificationParts(home);
    if (!parts) closing.push(() => verification.close());
    const { sandbox, folders } = verification;
    // Electron is no Node unless it is told so.
    const comparer = mathComparer(parts ? { ELECTRON_RUN_AS_NODE: '1' } : {});
    closing.push(() => comparer.close());
    const tools = { programs: new ProgramSandbox({ sandbox, folders, hidden: [home, ...request.sources, ...request.practice].filter((file) => path.isAbsolute(file)) }), comparer };
    const gym = request.sources.includes(GYM_TASKS) ? gymTasks({ seed: request.seed, split: 'held-out', count: request.limit ?? MOST_GYM_TASKS }) : [];
    const grades = new GymGrades(tools.programs);
    const specified = new Map<string, SpecifiedTask>();
    const sweBench: SweBenchTask[] = [];
    const making = taskMaker(verification, contextGatherer(home));
    const handsCopies = new StepCopies({ ...verification, ripgrepPath: rgPath });
    const read = async (file: string): Promise<readonly FiledTask[]> => {
      if (await isSweBenchFile(file)) {
        const { rows, notRun } = await readSweBench(file);
        const made = await sweBenchSource({ rows: rows.filter((row) => isWithin(row, file, request.dates)), notRun }, {
          containers: verification.containers, gatherContext: making.gatherContext, copies: handsCopies, folder: path.join(request.folder, 'swe-bench-projects'),
          limit: request.limit, seed: request.seed, signal, onTaken: onPreparing,
        });
        sweBench.push(...made);
        return made;
      }
      const tasks = await readFileTasks(file, { tools, limit: request.limit, seed: request.seed, bigCodeBench: request.bigCodeBench, dates: request.dates });
      for (const task of tasks) specified.set(task.id, task);
      return tasks;
    };
    const project = request.project && await projectSource(
      making,
      { ...request.project, count: request.limit ?? MOST_PROJECT_TASKS, seed: request.seed, practises: request.practice.includes(PROJECT_TASKS) },
      { folder: request.folder, signal, onTried: onPreparing },
    );
    const sources: TaskSource[] = [];
    for (const name of request.sources) {
      sources.push(name === GYM_TASKS ? gymSource(gym, grades) : name === PROJECT_TASKS ? sourceOfProject(project?.tasks ?? []) : fileSource(name, await read(name)));
    }
    const practised = await Promise.all(request.practice.map(async (name) => ({ name, tasks: name === PROJECT_TASKS ? (project?.practice ?? []) : await read(name) })));
    refuseEmpty([...sources, ...practised], request.dates);
    const practice = practised.flatMap(({ tasks }): readonly FiledTask[] => tasks);
    refuseShared(sources.flatMap(({ tasks }) => tasks), practice);

    const { simulation: running } = request;
    const known = (): ReadonlyMap<string, KnownAnswers> => knownAnswers([...specified.values()], [...project?.tasks ?? [], ...project?.practice ?? []], sweBench.map(({ row }) => row));
    const server = request.simulated && !running ? await simulate(request.seed, gym, known()) : undefined;
    if (server) closing.push(() => server.close());
    const all = server ? server.workers().map((worker) => workerConfigSchema.parse({ ...worker, concurrency: 16 })) : running?.workers ?? workersFile.workers;
    const pool = poolOf(all, request.pool, request.simulated);
    const limits = new ProviderLimits({ workers: all });
    const prices = await loadPrices(path.join(home, 'prices.json'));
    const bundled = findBundledModel();
    const { localModel, servedModels } = parts ?? ownModels({ home, workersFile, bundled, closing });
    const examples = request.examples === undefined ? undefined : await readOwnExamples(request.examples);
    const planners = request.planners.map((choice): PlannerChoice => {
      const { id, isBase, switches } = readConductor(choice, { rounds: request.rounds, attempts: request.attempts });
      const found = server?.conductor().id === id ? workerConfigSchema.parse(server.conductor())
        : id === BUNDLED_MODEL ? (workersFile.workers.find((worker) => worker.id === id) ?? bundled?.conductor) : all.find((worker) => worker.id === id);
      if (!found) throw new EvaluationRequestError(`There is no worker "${id}" that could plan; there are ${[...all.map((worker) => worker.id), BUNDLED_MODEL].join(', ')}.`);
      if (switches.free && modelHere(found) === undefined) throw new EvaluationRequestError(`"${id}" writes freely anyway: +free is for models of this machine.`);
      if (switches.pool !== undefined && switches.pool > pool.length) throw new EvaluationRequestError(`+pool=${switches.pool} draws more workers than the pool has (${pool.length}).`);
      const profile = profileWith(profileOf(found), switches, examples);
      const name = `Conductor ${id}${isBase ? ' without its adapter' : ''}${switchWords(switches)}`;
      return { name, planner: isBase ? { ...found, adapter: undefined, weights: undefined } : found, profile, switches };
    });
    if (request.best !== undefined && !pool.some(({ id }) => id === request.best)) {
      throw new EvaluationRequestError(`The worker "${request.best}" of --best is not in the pool (${pool.map(({ id }) => id).join(', ')}).`);
    }
    const sameFor = (task: EvalTask, signal: AbortSignal): SameAnswer => {
      if (task.project) return sameTestResults(task, signal);
      const spec = specified.get(task.id)?.spec;
      return spec ? sameAnswerFor(spec, tools, signal) : sameGymCode;
    };
    const simulation = running ? `simulation ${running.seed} of workers whose skills are not told` : server && `simulation ${request.seed}`;
    const evaluation = new Evaluation({
      sources, practice, contestants: request.contestants, planners, pool, best: request.best, seeds: request.seeds, budget: request.budget,
      folder: request.folder, concurrency: request.concurrency,
      // Simulated workers are none of those whose limits the process knows.
      caller: parts && !request.simulated ? parts.caller : new WorkerCaller({ limits, prices, localModel, servedModels }),
      keys, clientModel: parts?.clientModel,
      priceOf: (worker) => prices.of(worker),
      sameFor, simulation,
      asked: { version: 1, request: evaluationRequestSchema.parse(request), ...(running && { simulation: running }), host, startedAt: Date.now() },
    });
    closing.push(() => evaluation.close());
    return { evaluation, pool: pool.map(({ id }) => id), tasks: sources.map(({ name, tasks, forms }) => ({ name, tasks: tasks.length, forms })), close };
  } catch (error) {
    await close();
    // Tasks of the project that were tried are kept; a folder with nothing in it is of no use.
    if (isNewFolder) await rmdir(request.folder).catch(() => {});
    throw error;
  }
}

function fileSource(file: string, tasks: readonly FiledTask[]): TaskSource {
  const forms: Record<string, number> = {};
  for (const { form = '' } of tasks) forms[form] = (forms[form] ?? 0) + 1;
  return { name: path.basename(file), tasks, forms };
}

const sourceOfProject = (tasks: readonly ProjectEvalTask[]): TaskSource => {
  const forms: Record<string, number> = {};
  for (const { record: { kind } } of tasks) forms[kind] = (forms[kind] ?? 0) + 1;
  return { name: PROJECT_TASKS, tasks, forms };
};

const contextGatherer = (home: string): ContextGatherer => new ContextGatherer({
  ripgrepPath: rgPath, indexes: new SymbolIndexes(new IndexFolder({ folder: path.join(home, 'indexes'), version: VERSION, log: () => {} })),
});

function gymSource(gym: readonly GymTask[], grades: GymGrades): TaskSource {
  const tasks = gym.map((task): FiledTask => ({
    id: task.id, question: task.question, context: '', grader: grades.graderOf(task), tests: grades.graderOf(task),
    fingerprint: createHash('sha256').update(JSON.stringify([task.question, task.cases, task.judge])).digest('hex'),
  }));
  return { name: 'gym', tasks, forms: { gym: tasks.length } };
}

/** @throws EvaluationRequestError where there is nothing to compare */
function refuseEmpty(sources: readonly Pick<TaskSource, 'name' | 'tasks'>[], { start, end }: NonNullable<EvaluationRequest['dates']> = {}): void {
  const empty = sources.find(({ tasks }) => tasks.length === 0);
  if (empty) throw new EvaluationRequestError(`There is no task in ${empty.name}${start === undefined && end === undefined ? '' : ' of these days'}.`);
}

/** @throws EvaluationRequestError if what a router learns from is in the evaluation, or two tasks have one id */
function refuseShared(tasks: readonly FiledTask[], practice: readonly FiledTask[]): void {
  const seen = new Set<string>();
  for (const { id } of tasks) {
    if (seen.has(id)) throw new EvaluationRequestError(`The task "${id}" is given twice: name each file once.`);
    seen.add(id);
  }
  const asked = new Set(tasks.map(({ question }) => question));
  const shared = practice.find(({ id, question }) => seen.has(id) || asked.has(question));
  if (shared) throw new EvaluationRequestError(`The task "${shared.id}" is in the evaluation and in --practice, which would teach a router the answers: use other tasks for practice.`);
}

/** @throws EvaluationRequestError */
function poolOf(all: readonly WorkerConfig[], wanted: readonly string[] | undefined, isSimulated: boolean): WorkerConfig[] {
  const usable = all.filter((worker) => worker.enabled && !worker.agent);
  const missing = wanted?.find((id) => !usable.some((worker) => worker.id === id));
  if (missing !== undefined) {
    const why = all.find(({ id }) => id === missing)?.agent ? 'is an agent, and agents work in projects' : 'is not among the enabled workers';
    throw new EvaluationRequestError(`"${missing}" ${why}; there are ${usable.map(({ id }) => id).join(', ') || 'none'}.`);
  }
  const pool = wanted ? wanted.map((id) => usable.find((worker) => worker.id === id) as WorkerConfig) : usable;
  if (pool.length === 0) throw new EvaluationRequestError('There is no worker to evaluate: conductor worker add. Or try simulated ones: --pool simulated.');
  return isSimulated ? pool : pool.filter(({ simulated }) => !simulated || wanted !== undefined);
}

/** Simulated workers that know the gym and the given files by hidden skill. */
function simulate(seed: number, gym: readonly GymTask[], known: ReadonlyMap<string, KnownAnswers>): Promise<SimulatorServer> {
  return SimulatorServer.start({ seed, latency: 0, workers: TRAINING_POOL, rule: knowingRule(gym, known) });
}

const sameGymCode = byKey((answer) => answerCode(answer, 'javascript') ?? answer.trim());

function ownModels(
  { home, workersFile, bundled, closing }: { home: string; workersFile: WorkersFile; bundled: ReturnType<typeof findBundledModel>; closing: (() => Promise<void> | void)[] },
): Pick<ModelParts, 'localModel' | 'servedModels'> {
  const models = modelParts({ home, loadWorkers: () => Promise.resolve(workersFile), bundled, confirmCuda: () => Promise.resolve(false), log: () => {} });
  closing.push(() => models.close());
  return models;
}

