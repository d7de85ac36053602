import { BUNDLED_MODEL, type Budget, type WorkerConfig, type WorkersFile } from '../protocol/worker-config.ts';
import type { PlannerChoice } from '../protocol/planner-choice.ts';
import type { PolicySnapshot } from '../protocol/run-events.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import { isBundled } from '../protocol/bundled-conductor.ts';
import { profileOf } from '../conductor/prompt-profile.ts';
import { usesRecords } from '../records/uses-records.ts';
import { bestPlanner, choiceOf, type ChosenPlanner, type RecordOf } from './choose-planner.ts';
import { RunError } from './failure.ts';

/** The participants of a run, decided when it is accepted. */
export interface Cast {
  /** The workers, in the order of their ordinals. */
  readonly pool: readonly WorkerConfig[];
  readonly policy: PolicySnapshot;
  readonly budget: Budget;
  /** Records choose nobody. */
  readonly recordsOff?: true | undefined;
}

export interface CastSources {
  readonly file: WorkersFile;
  /** Whether a client has the key of this name. */
  readonly hasKey: (name: string) => Promise<boolean>;
  /** The worker with its price filled in, where one is known. */
  readonly priced: (worker: WorkerConfig) => WorkerConfig;
  /** The bundled model, which plans if no worker can. Absent if none is bundled or can run: then the first worker plans. */
  readonly bundledConductor?: WorkerConfig | undefined;
  /** How earlier plans turned out; by default nothing is known. */
  readonly recordOf?: RecordOf | undefined;
  /** Lets the bundled model plan unless the person chose another, for a choice of one worker that is worth no money. */
  readonly isRouting?: boolean | undefined;
  /** The version of the adapter of a local worker, or of a served one; undefined without one. @throws with a sentence for people */
  readonly adapterVersion: (worker: WorkerConfig) => Promise<string | undefined>;
}

/**
 * The pool and the Conductor for a request. Workers whose key is missing are left out, unless the request names them.
 * @throws RunError if no planner or no worker is left
 */
export async function castFor(request: RunRequest, sources: CastSources): Promise<Cast> {
  const { file, hasKey, priced, adapterVersion } = sources;
  if (file.workers.length === 0) {
    throw new RunError('no-worker', 'There is no worker yet: add one with "Conductor: Add Worker" or "conductor worker add", or choose a model that runs on this ' +
        'machine with "Conductor: Choose Conductor Model".');
  }
  const wanted = request.workers?.map((id) => named(id, file)) ?? file.workers.filter(({ enabled }) => enabled);
  const chosen = chosenPlanner(request, sources);
  const names = new Set([...wanted, ...(chosen ? [chosen.worker] : [])].flatMap(({ key }) => key ?? []));
  // In parallel: a client may open a key ring for each key, and the run's id waits for this.
  const there = new Map(await Promise.all([...names].map(async (name) => [name, await hasKey(name)] as const)));
  const ready = ({ key }: WorkerConfig): boolean => !key || there.get(key) === true;
  const pool = (request.workers ? wanted : wanted.filter(ready)).map(priced);
  if (pool.length === 0) throw new RunError('no-worker', nobodyReady(wanted));

  const { worker: planner, why } = chosen ?? plannerByDefault(pool.filter(ready), sources) ?? { worker: pool[0] as WorkerConfig, why: 'first' };
  if (!ready(planner)) {
    throw new RunError('no-conductor', `"${planner.id}" plays the Conductor, but its key ${planner.key} is not set: ${howToSetKey(planner)}.`);
  }
  const version = planner.adapter === undefined ? undefined : await versionOf(planner, adapterVersion);
  return {
    pool,
    policy: {
      kind: planner.provider === 'local' ? 'local' : 'endpoint',
      worker: priced(planner),
      model: planner.model,
      ...(version !== undefined && { adapterVersion: version }),
      promptVersion: profileOf(planner).version,
      choice: choiceOf(priced(planner), why, pool.length, sources.recordOf),
    },
    budget: { ...file.budget, ...request.budget },
    ...(!usesRecords(file) && { recordsOff: true as const }),
  };
}

type PlannerSources = Pick<CastSources, 'file' | 'bundledConductor' | 'recordOf' | 'isRouting'>;

/**
 * The planner that the request or workers.json names, or the bundled model with what it learned.
 * @throws RunError for a worker that does not exist, and for the bundled model if it cannot run: nobody else may cost money in its place
 */
export function chosenPlanner(request: Pick<RunRequest, 'conductor'>, { file, bundledConductor }: PlannerSources): ChosenPlanner | undefined {
  const id = request.conductor ?? file.conductor;
  if (id === undefined) {
    const trained = file.workers.find((worker) => isBundled(worker, bundledConductor));
    return trained && { worker: trained, why: 'trained' };
  }
  const why = request.conductor === undefined ? 'chosen' : 'asked';
  if (id !== BUNDLED_MODEL || file.workers.some((worker) => worker.id === id)) return { worker: named(id, file), why };
  if (bundledConductor) return { worker: bundledConductor, why };
  throw new RunError('no-conductor', `"${id}" was chosen to plan, but it cannot run on this machine: ` +
    'choose another model with "Conductor: Choose Conductor" or "conductor worker plan".');
}

/** The planner if nobody was chosen; undefined if no worker can plan and there is no bundled model. @param pool ready workers with their prices */
export function plannerByDefault(
  pool: readonly WorkerConfig[], { bundledConductor: bundled, recordOf, isRouting = false }: PlannerSources,
): ChosenPlanner | undefined {
  if (bundled && isRouting) return { worker: bundled, why: 'routing' };
  const best = bestPlanner(pool, recordOf);
  if (best || !bundled) return best;
  return { worker: bundled, why: pool.length > 0 && pool.every(({ simulated }) => simulated) ? 'simulated' : 'none-can' };
}

/** Who would plan the next question, with the reason; undefined if nobody can. @param ready the enabled workers that can be called */
export function nextPlanner(
  ready: readonly WorkerConfig[], { priced, ...sources }: PlannerSources & Pick<CastSources, 'priced'>,
): { readonly worker: WorkerConfig; readonly choice: PlannerChoice } | undefined {
  const pool = ready.map(priced);
  const { worker, why } = plannerUnlessRefused(pool, sources) ?? {};
  return worker && why && { worker, choice: choiceOf(priced(worker), why, pool.length, sources.recordOf) };
}

function plannerUnlessRefused(pool: readonly WorkerConfig[], sources: PlannerSources): ChosenPlanner | undefined {
  try {
    const [first] = pool;
    return chosenPlanner({}, sources) ?? plannerByDefault(pool, sources) ?? (first && { worker: first, why: 'first' });
  } catch (error) {
    if (error instanceof RunError) return undefined;
    throw error;
  }
}

/** @throws RunError */
function named(id: string, { workers }: WorkersFile): WorkerConfig {
  const worker = workers.find((one) => one.id === id);
  if (!worker) throw new RunError('unknown-worker', `There is no worker "${id}"; the workers are ${workers.map((one) => one.id).join(', ')}.`);
  return worker;
}

async function versionOf(planner: WorkerConfig, adapterVersion: CastSources['adapterVersion']): Promise<string | undefined> {
  try {
    return await adapterVersion(planner);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new RunError('no-conductor', `"${planner.id}" cannot play the Conductor: ${said}`);
  }
}

function nobodyReady(wanted: readonly WorkerConfig[]): string {
  const [first] = wanted;
  if (!first) return 'Every worker is switched off: switch one on in workers.json.';
  return `No worker is ready: the key ${first.key} of "${first.id}" is not set: ${howToSetKey(first)}.`;
}

export function howToSetKey({ key }: Pick<WorkerConfig, 'key'>): string {
  return `run "Conductor: Set Key" in VS Code, or set ${key} in the environment of the command line`;
}

/** The cast of a run that fails before it has a pool. */
export function emptyCast(budget: Budget): Cast {
  return { pool: [], policy: { kind: 'endpoint', model: 'none', promptVersion: 'none' }, budget };
}
