import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { workerConfigSchema, type WorkerConfig } from '../../protocol/worker-config.ts';
import { GymGrades } from './gym-grades.ts';
import { GymBook, type GymTask } from './gym-tasks.ts';
import { gymRule } from './gym-worker.ts';
import type { SimulatedWorker } from '../../simulator/pool.ts';
import { SimulatorServer } from '../../simulator/server.ts';
import { ProgramSandbox } from '../../verify/graders/code/program-sandbox.ts';
import { RunFolders } from '../../verify/files/run-folder.ts';
import { Sandbox } from '../../verify/sandbox/sandbox.ts';
import { WorkerCaller } from '../../workers/call-worker.ts';
import { loadPrices, type Prices } from '../../workers/limits/prices.ts';
import { ProviderLimits } from '../../workers/limits/provider-limits.ts';

/** Simulated workers and their random seed. */
export interface ArenaPool {
  readonly workers: readonly SimulatedWorker[];
  readonly luck: number;
}

/** Concurrent calls to a simulated server, which has no limit itself. */
const CALLS_AT_ONCE = 16;

/** The gym for trainings and evaluations: workers behind wire formats, answers executed in the sandbox. */
export class GymArena<Name extends string> {
  readonly grades: GymGrades;
  readonly caller: WorkerCaller;
  readonly prices: Prices;
  /** A folder (absolute), deleted when the arena is closed. */
  readonly temporary: string;
  readonly #served: ReadonlyMap<Name, { readonly server: SimulatorServer; readonly pool: readonly WorkerConfig[] }>;

  private constructor(
    served: ReadonlyMap<Name, { readonly server: SimulatorServer; readonly pool: readonly WorkerConfig[] }>,
    { grades, caller, prices, temporary }: Pick<GymArena<Name>, 'grades' | 'caller' | 'prices' | 'temporary'>,
  ) {
    this.#served = served;
    this.grades = grades;
    this.caller = caller;
    this.prices = prices;
    this.temporary = temporary;
  }

  /** `isAlive`: whether the process with this id runs. Files of ended processes are deleted. */
  static async open<Name extends string>(
    pools: Readonly<Record<Name, ArenaPool>>, tasks: readonly GymTask[], isAlive: (pid: number) => boolean,
  ): Promise<GymArena<Name>> {
    const rule = gymRule(new GymBook(tasks));
    const served = new Map(await Promise.all((Object.entries(pools) as [Name, ArenaPool][]).map(async ([name, { workers, luck }]) => {
      const server = await SimulatorServer.start({ seed: luck, latency: 0, workers, rule });
      const pool = server.workers().map((worker) => workerConfigSchema.parse({ ...worker, concurrency: CALLS_AT_ONCE }));
      return [name, { server, pool }] as const;
    })));
    const temporary = await mkdtemp(path.join(tmpdir(), 'conductor-gym-'));
    const folders = new RunFolders(path.join(temporary, 'verify'), isAlive);
    const sandbox = new Sandbox({ searchPath: process.env['PATH'] ?? '', homeFolder: homedir(), hiddenFolders: [temporary], folders });
    const prices = await loadPrices();
    const limits = new ProviderLimits({ workers: [...served.values()].flatMap(({ pool }) => pool) });
    return new GymArena(served, {
      temporary, prices,
      grades: new GymGrades(new ProgramSandbox({ sandbox, folders, hidden: [] })),
      caller: new WorkerCaller({ limits, prices }),
    });
  }

  /** By ordinal. */
  pool(name: Name): readonly WorkerConfig[] {
    const found = this.#served.get(name);
    if (!found) throw new RangeError(`The arena serves no pool "${name}".`);
    return found.pool;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#served.values()].map(({ server }) => server.close()));
    await rm(this.temporary, { recursive: true, force: true });
  }
}
