import type { Budget, WorkerConfig, WorkersFile } from '../protocol/worker-config.ts';
import type { PolicySnapshot } from '../protocol/run-events.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import { bundledPlanner } from '../protocol/bundled-conductor.ts';
import { profileOf } from '../conductor/prompt-profile.ts';
import { RunError } from './failure.ts';

/** The participants of a run, decided when it is accepted. */
export interface Cast {
  /** The workers, in the order of their ordinals. */
  readonly pool: readonly WorkerConfig[];
  readonly policy: PolicySnapshot;
  readonly budget: Budget;
}

export interface CastSources {
  readonly file: WorkersFile;
  /** Whether a client has the key of this name. */
  readonly hasKey: (name: string) => Promise<boolean>;
  /** The worker with its price filled in, where one is known. */
  readonly priced: (worker: WorkerConfig) => WorkerConfig;
  /** The planner if workers.json names none. Absent if no model is bundled or can run: then the first worker plans. */
  readonly bundledConductor?: WorkerConfig | undefined;
  /** The version of a local worker's adapter; undefined without one. @throws with a sentence for people */
  readonly adapterVersion: (worker: WorkerConfig) => Promise<string | undefined>;
}

/**
 * The pool and the Conductor for a request. Workers whose key is missing are left out, unless the request names them.
 * @throws RunError if no planner or no worker is left
 */
export async function castFor(
  request: RunRequest, { file, hasKey, priced, bundledConductor, adapterVersion }: CastSources,
): Promise<Cast> {
  if (file.workers.length === 0) {
    throw new RunError('no-worker', 'There is no worker yet: add one with "Conductor: Add Worker" or "conductor worker add", or choose a model that runs on this ' +
        'machine with "Conductor: Choose Conductor Model".');
  }
  const byId = new Map(file.workers.map((worker) => [worker.id, worker]));
  const named = (id: string): WorkerConfig => {
    const worker = byId.get(id);
    if (!worker) throw new RunError('unknown-worker', `There is no worker "${id}"; the workers are ${[...byId.keys()].join(', ')}.`);
    return worker;
  };

  const wanted = request.workers?.map(named) ?? file.workers.filter(({ enabled }) => enabled);
  const conductorId = request.conductor ?? file.conductor;
  // A request can ask for the bundled planner even if workers.json names another one.
  const isBundledAsked = conductorId === undefined || (conductorId === bundledConductor?.id && !byId.has(conductorId));
  const conductor = isBundledAsked ? bundledPlanner(file.workers, bundledConductor) : named(conductorId);
  const names = new Set([...wanted, ...(conductor ? [conductor] : [])].flatMap(({ key }) => key ?? []));
  // In parallel: a client may open a key ring for each key, and the run's id waits for this.
  const there = new Map(await Promise.all([...names].map(async (name) => [name, await hasKey(name)] as const)));
  const ready = ({ key }: WorkerConfig): boolean => !key || there.get(key) === true;
  const pool = request.workers ? wanted : wanted.filter(ready);
  if (pool.length === 0) throw new RunError('no-worker', nobodyReady(wanted));

  const planner = conductor ?? pool[0] as WorkerConfig;
  if (!ready(planner)) {
    throw new RunError('no-conductor', `"${planner.id}" plays the Conductor, but its key ${planner.key} is not set: ${howToSetKey(planner)}.`);
  }
  const version = planner.provider === 'local' ? await versionOf(planner, adapterVersion) : undefined;
  return {
    pool: pool.map(priced),
    policy: {
      kind: planner.provider === 'local' ? 'local' : 'endpoint',
      worker: priced(planner),
      model: planner.model,
      ...(version !== undefined && { adapterVersion: version }),
      promptVersion: profileOf(planner).version,
    },
    budget: { ...file.budget, ...request.budget },
  };
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
