import { rm } from 'node:fs/promises';
import { writeSampleProject } from './sample-project.ts';
import { SimulatorServer, type SimulatedWorkerConfig } from './server.ts';

/** What a demonstration needs: a question about a project that has a bug, and simulated models that know the project. */
export interface Demonstrated {
  readonly question: string;
  /** Absolute path of the project. */
  readonly workspace: string;
  readonly rounds: number;
  readonly workers: readonly SimulatedWorkerConfig[];
  /** Plans where no other model can; it stands in no pool. */
  readonly conductor: SimulatedWorkerConfig;
}

/** Which bug the project has. Whether the first round mends it depends on the plan: the workers err as real ones do. */
const SEED = 3;
/** Enough that most demonstrations end with green tests, and few enough to watch. */
const ROUNDS = 4;

/** For people who have no worker yet. The simulator starts with the first demonstration and ends with the backend. */
export class Demonstration {
  readonly #folder: string;
  readonly #seed: number;
  #server: Promise<SimulatorServer> | undefined;

  /** @param folder the sample project is written to; whatever lies there is replaced. */
  constructor(folder: string, { seed = SEED }: { readonly seed?: number } = {}) {
    this.#folder = folder;
    this.#seed = seed;
  }

  /** Writes the project afresh, so that the bug is there again. */
  async begin(): Promise<Demonstrated> {
    const server = await (this.#server ??= SimulatorServer.start({ seed: this.#seed }));
    await rm(this.#folder, { recursive: true, force: true });
    const { question } = await writeSampleProject(this.#folder, { seed: this.#seed });
    return { question, workspace: this.#folder, rounds: ROUNDS, workers: server.workers().map(free), conductor: free(server.conductor()) };
  }

  async close(): Promise<void> {
    await (await this.#server?.catch(() => undefined))?.close();
  }
}

/** Nothing is paid, so nothing counts against what people may spend. */
function free(worker: SimulatedWorkerConfig): SimulatedWorkerConfig {
  return { ...worker, price: { inputPerMillion: 0, outputPerMillion: 0 } };
}
