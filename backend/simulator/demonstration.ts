import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { WORKERS, type SimulatedWorker } from './pool.ts';
import { ROLES } from './roles.ts';
import { writeSampleProject } from './sample-project.ts';
import { SimulatorServer, type SimulatedWorkerConfig } from './server.ts';

/** A demonstration: a question about a project with a bug, and simulated models that know the project. */
export interface Demonstrated {
  readonly question: string;
  /** Absolute path of the project. */
  readonly workspace: string;
  readonly rounds: number;
  readonly workers: readonly SimulatedWorkerConfig[];
  /** Plans if no other model can. It is in no pool. */
  readonly conductor: SimulatedWorkerConfig;
}

/** Selects the bug. Whether the first round fixes it depends on the plan: the workers make mistakes as real ones do. */
const SEED = 3;
/** Added to all skills of the workers of `npm run demo`, so that a first demonstration seldom fails. */
const MORE_SKILL = 0.3;
/** Later rounds can fix a wrong answer. */
const ROUNDS = 4;

/** Stores the simulator's last address, because runs of an earlier process refer to it. */
const PORT_FILE = 'port';

/** Demonstrations for people without workers. The simulator starts with the first demonstration and ends with the backend. */
export class Demonstration {
  readonly #folder: string;
  readonly #seed: number;
  #server: Promise<SimulatorServer> | undefined;
  /** Set once the remains of an earlier process are removed or kept. */
  #tidied: Promise<void> | undefined;

  /** @param folder for the sample projects. Projects of earlier processes in it are removed. */
  constructor(folder: string, { seed = SEED }: { readonly seed?: number } = {}) {
    this.#folder = folder;
    this.#seed = seed;
  }

  /** Each demonstration has its own project: another may be active, and a new one needs the bug again. */
  async begin(): Promise<Demonstrated> {
    const server = await this.#running();
    await (this.#tidied ??= this.#tidy());
    const workspace = await mkdtemp(path.join(this.#folder, 'project-'));
    const { question } = await writeSampleProject(workspace, { seed: this.#seed });
    return { question, workspace, rounds: ROUNDS, workers: server.workers().map(free), conductor: free(server.conductor()) };
  }

  /** Restarts the simulator at the address of an earlier process's demonstration. Ignores other addresses. */
  async goOn({ baseUrl }: { readonly baseUrl?: string | undefined }): Promise<void> {
    if (this.#server || baseUrl === undefined || Number(new URL(baseUrl).port) !== (await this.#lastPort())) return;
    // Its project is still in use.
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

/** Demonstrations are free, so they do not count against the user's budget. */
function free(worker: SimulatedWorkerConfig): SimulatedWorkerConfig {
  return { ...worker, price: { inputPerMillion: 0, outputPerMillion: 0 } };
}
