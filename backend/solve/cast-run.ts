import { budgetSchema, type WorkerConfig, type WorkersFile } from '../protocol/worker-config.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import { admit } from './admit.ts';
import type { Clients } from './clients.ts';
import { RunError } from './failure.ts';
import { castFor, emptyCast, type Cast, type CastSources } from './run-pool.ts';

export interface CasterOptions {
  readonly clients: Pick<Clients, 'secret'>;
  readonly priced: (worker: WorkerConfig) => WorkerConfig;
  /** Read for each request: only after a while is it known whether a model can run on this machine. */
  readonly bundledConductor: () => WorkerConfig | undefined;
  readonly adapterVersion: CastSources['adapterVersion'];
  readonly recordOf?: CastSources['recordOf'];
  /** Whether workers can work in copies of the project here; by default they cannot. */
  readonly hasHands?: () => Promise<boolean>;
}

/** The workers of a run with the keys that were found, or the reason why it cannot begin. */
export interface Casting {
  readonly cast: Cast;
  readonly keys?: ReadonlyMap<string, string>;
  readonly refusal?: unknown;
}

/** Decides who takes part in a run. Never rejects: a run that cannot begin is journalled with its refusal. */
export async function castRun(request: RunRequest, loadWorkers: () => Promise<WorkersFile>, options: CasterOptions): Promise<Casting> {
  const { clients, bundledConductor, hasHands, ...sources } = options;
  const fallback = (budget = budgetSchema.parse({})): Cast => emptyCast({ ...budget, ...request.budget });
  const file = await loadWorkers().catch((error: unknown) => error as Error);
  if (file instanceof Error) return { cast: fallback(), refusal: new RunError('workers-file', file.message) };
  try {
    await admit(request);
    const keys = new Map<string, string>();
    const hasKey = async (name: string): Promise<boolean> => {
      const value = await clients.secret(name);
      if (value) keys.set(name, value);
      return Boolean(value);
    };
    const cast = await castFor(request, { ...sources, file, hasKey, bundledConductor: bundledConductor() });
    const keepsHands = cast.pool.some(({ hands }) => hands !== undefined) && (await hasHands?.()) === true;
    return { cast: keepsHands ? cast : { ...cast, pool: cast.pool.map(withoutHands) }, keys };
  } catch (error) {
    return { cast: fallback(file.budget), refusal: error };
  }
}

const withoutHands = ({ hands: _hands, ...worker }: WorkerConfig): WorkerConfig => worker;
