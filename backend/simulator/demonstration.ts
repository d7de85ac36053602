import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { WORKERS, type SimulatedWorker } from './pool.ts';
import { ROLES } from './roles.ts';
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
/** By so much these workers are better at everything than those of `npm run demo`, so that a first look seldom ends red. */
const MORE_SKILL = 0.3;
/** A wrong answer is shown to be wrong, and mended in a later round. */
const ROUNDS = 4;

/** Says where the simulator listened last: runs of an earlier process name that address. */
const PORT_FILE = 'port';

/** For people who have no worker yet. The simulator starts with the first demonstration and ends with the backend. */
export class Demonstration {
  readonly #folder: string;
  readonly #seed: number;
  #server: Promise<SimulatorServer> | undefined;
  /** Set once what an earlier process left is gone, or is to stay. */
  #tidied: Promise<void> | undefined;

  /** @param folder the sample projects are written into; whatever an earlier process left there is removed. */
  constructor(folder: string, { seed = SEED }: { readonly seed?: number } = {}) {
    this.#folder = folder;
    this.#seed = seed;
  }

  /** Each has a project of its own: another demonstration may be under way, and in a new one the bug is there again. */
  async begin(): Promise<Demonstrated> {
    const server = await this.#running();
    await (this.#tidied ??= this.#tidy());
    const workspace = await mkdtemp(path.join(this.#folder, 'project-'));
    const { question } = await writeSampleProject(workspace, { seed: this.#seed });
    return { question, workspace, rounds: ROUNDS, workers: server.workers().map(free), conductor: free(server.conductor()) };
  }

  /** Has the simulator answer again at the address of a demonstration that an earlier process began; nothing for other addresses. */
  async goOn({ baseUrl }: { readonly baseUrl?: string | undefined }): Promise<void> {
    if (this.#server || baseUrl === undefined || Number(new URL(baseUrl).port) !== (await this.#lastPort())) return;
    // Its project is still worked on.
    this.#tidied ??= Promise.resolve();
    await this.#running();
  }

  async close(): Promise<void> {
    await (await this.#server?.catch(() => undefined))?.close();
  }

  #running(): Promise<SimulatorServer> {
    return this.#server ??= this.#start().catch((error: unknown) => {
      this.#server = undefined;
      throw error;
    });
  }

  async #start(): Promise<SimulatorServer> {
    await mkdir(this.#folder, { recursive: true });
    const server = await SimulatorServer.start({ seed: this.#seed, workers: WORKERS.map(practised), port: await this.#lastPort() });
    await writeFile(path.join(this.#folder, PORT_FILE), new URL(server.url).port);
    return server;
  }

  async #lastPort(): Promise<number | undefined> {
    const port = Number(await readFile(path.join(this.#folder, PORT_FILE), 'utf8').catch(() => ''));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
  }

  async #tidy(): Promise<void> {
    const left = await readdir(this.#folder);
    await Promise.all(left.filter((name) => name !== PORT_FILE).map((name) => rm(path.join(this.#folder, name), { recursive: true, force: true })));
  }
}

function practised(worker: SimulatedWorker): SimulatedWorker {
  const skills = Object.entries(worker.skills).map(([kind, row]) => [kind, Object.fromEntries(ROLES.map((role) => [role, row[role] + MORE_SKILL]))]);
  return { ...worker, skills: Object.fromEntries(skills) as SimulatedWorker['skills'] };
}

/** Nothing is paid, so nothing counts against what people may spend. */
function free(worker: SimulatedWorkerConfig): SimulatedWorkerConfig {
  return { ...worker, price: { inputPerMillion: 0, outputPerMillion: 0 } };
}
