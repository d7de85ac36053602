import { access } from 'node:fs/promises';
import type { FoundServers, ListedModels, NamedServer } from '../../protocol/found-servers.ts';
import type { AgentName } from '../../protocol/known-agents.ts';
import { ERROR_CODES, type ClientRequests, type Pool, type Result, type WorkerStatus } from '../../protocol/methods.ts';
import { bundledPlanner } from '../../protocol/bundled-conductor.ts';
import { factsOf } from '../../protocol/providers.ts';
import { servedIn } from '../../protocol/served.ts';
import { RequestError } from '../../protocol/request-error.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import type { WorkerConfig, WorkersFile } from '../../protocol/worker-config.ts';
import { catalogueContext } from '../../workers/limits/catalogue-price.ts';
import { baseUrlOf } from '../../workers/servers/server-of.ts';
import { loadWorkersFile, saveWorkersFile } from '../../workers/workers-file.ts';
import { SerialQueue } from '../../common/serial-queue.ts';
import type { ClientRegistry } from '../client-registry.ts';

export type TriedWorker = Result<ClientRequests, 'worker/try'>;

/** The pool's file, and checks of its workers. */
export interface WorkersAccess {
  /** Absolute path of `workers.json`. */
  readonly file: string;
  /** The pool that questions use, from the content of the file; the same where nothing stands in for it. */
  shown?(file: WorkersFile): WorkersFile;
  /** Tests a worker with one or two small real calls. */
  tryWorker(worker: WorkerConfig, signal: AbortSignal): Promise<TriedWorker>;
  /** What is known of the worker's price. */
  priceOf(worker: WorkerConfig): WorkerStatus['price'];
  /** Why the model of a local worker, or what is here of a served one, cannot be used, according to its files; one sentence. */
  whyNoModel(worker: WorkerConfig): Promise<string | undefined>;
  /** The version of a worker's adapter. @throws where it cannot be read */
  adapterVersion?(worker: WorkerConfig): Promise<string | undefined>;
  /** Finds the model servers that answer on this machine. */
  findServers(signal: AbortSignal): Promise<FoundServers>;
  /** The known agents whose program is installed on this machine. */
  findAgents(): Promise<AgentName[]>;
  /** Lists the models of a server that the user named. */
  listModels(server: NamedServer, signal: AbortSignal): Promise<ListedModels>;
  /** The bundled model, which can plan without being in the file. */
  readonly bundledConductor?: WorkerConfig | undefined;
  /** Who would plan the next question, of the enabled workers that are ready. */
  nextPlanner(file: WorkersFile, ready: readonly WorkerConfig[]): Pool['planner'];
}

type WorkerMethods = 'pool/get' | 'worker/save' | 'worker/remove' | 'worker/try' | 'conductor/choose' | 'servers/find' | 'servers/models' | 'agents/find' | 'pool/create';
type KeyHolders = Pick<ClientRegistry, 'secret' | 'can'>;

/** Reads and changes the pool for clients. Shared by all sessions, so that changes are serialised. */
export class PoolEditor {
  readonly #access: WorkersAccess;
  readonly #clients: KeyHolders;
  readonly #changes = new SerialQueue();

  constructor(access: WorkersAccess, clients: KeyHolders) {
    this.#access = access;
    this.#clients = clients;
  }

  async get(): Promise<Pool> {
    return this.describe(await this.file());
  }

  /** The current content of the file. @throws ConfigFileError */
  file(): Promise<WorkersFile> {
    return loadWorkersFile(this.#access.file);
  }

  save(worker: WorkerConfig, conductor: boolean): Promise<Pool> {
    return this.#changed((file) => {
      const known = file.workers.some(({ id }) => id === worker.id);
      const workers = known ? file.workers.map((old) => (old.id === worker.id ? worker : old)) : [...file.workers, worker];
      return { ...file, workers, ...(conductor && { conductor: worker.id }) };
    });
  }

  remove(id: string): Promise<Pool> {
    return this.#changed((file) => {
      const workers = file.workers.filter((worker) => worker.id !== id);
      if (workers.length === file.workers.length) {
        throw notFound(id);
      }
      const { conductor, ...rest } = file;
      return { ...rest, workers, ...(conductor !== undefined && conductor !== id && { conductor }) };
    });
  }

  /** @param id null: nobody is chosen, and the worker that plans best for its price plans */
  chooseConductor(id: string | null): Promise<Pool> {
    return this.#changed(({ conductor: _before, ...file }) => {
      if (id === null) return file;
      if (id !== this.#access.bundledConductor?.id && !file.workers.some((worker) => worker.id === id)) throw notFound(id);
      return { ...file, conductor: id };
    });
  }

  findServers(signal: AbortSignal): Promise<FoundServers> {
    return this.#access.findServers(signal);
  }

  findAgents(): Promise<AgentName[]> {
    return this.#access.findAgents();
  }

  listModels(server: NamedServer, signal: AbortSignal): Promise<ListedModels> {
    return this.#access.listModels(server, signal);
  }

  /** Writes the file if it does not exist. */
  async create(): Promise<Pool> {
    const isThere = await access(this.#access.file).then(() => true, () => false);
    return isThere ? this.get() : this.#changed((file) => file);
  }

  try(worker: WorkerConfig, signal: AbortSignal): Promise<TriedWorker> {
    return this.#access.tryWorker(worker, signal);
  }

  /** Changes the file, after all earlier changes. @returns the new content. @throws ConfigFileError */
  change(change: (file: WorkersFile) => WorkersFile): Promise<WorkersFile> {
    return this.#changes.run(async () => {
      const content = change(await this.file());
      await saveWorkersFile(this.#access.file, content);
      return content;
    });
  }

  async #changed(change: (file: WorkersFile) => WorkersFile): Promise<Pool> {
    return this.describe(await this.change(change));
  }

  async describe(stored: WorkersFile): Promise<Pool> {
    const content = this.#access.shown?.(stored) ?? stored;
    const { conductor, workers, budget: { warnAtPercent, runUsd } } = content;
    const statuses = await Promise.all(workers.map((worker) => this.#status(worker)));
    const { file, bundledConductor } = this.#access;
    const planner = this.#access.nextPlanner(content, statuses.filter(({ worker, ready }) => worker.enabled && ready).map(({ worker }) => worker));
    return {
      file, workers: statuses,
      ...(conductor !== undefined && { conductor }),
      ...(bundledConductor && { bundledConductor: bundledPlanner(workers, bundledConductor) }),
      ...(planner && { planner }),
      ...(warnAtPercent !== undefined && { warnAtPercent }),
      runUsd,
    };
  }

  async #status(worker: WorkerConfig): Promise<WorkerStatus> {
    const reason = await this.#whyNotReady(worker);
    const price = this.#access.priceOf(worker);
    const serves = reason === undefined ? await this.#serves(worker) : undefined;
    const contextTokens = factsOf(worker.provider).reach === 'server' ? catalogueContext(baseUrlOf(worker), worker.model) : undefined;
    return {
      worker, ready: reason === undefined, ...(reason !== undefined && { reason }), priced: price !== undefined, ...(price && { price }), ...(serves !== undefined && { serves }),
      ...(contextTokens !== undefined && { contextTokens }),
    };
  }

  async #serves(worker: WorkerConfig): Promise<string | undefined> {
    const adapterVersion = worker.served && worker.adapter !== undefined ? await this.#access.adapterVersion?.(worker).catch(() => undefined) : undefined;
    return servedIn({ worker, adapterVersion });
  }

  async #whyNotReady(worker: WorkerConfig): Promise<string | undefined> {
    const { provider, key, served } = worker;
    const { reach } = factsOf(provider);
    if (reach === 'process') return this.#access.whyNoModel(worker);
    const lacking = served && (await this.#access.whyNoModel(worker));
    if (lacking !== undefined) return lacking;
    if (reach === 'client' && !this.#clients.can('model')) return 'It is a model of VS Code, and no VS Code is connected.';
    if (key === undefined) return undefined;
    const value = await this.#clients.secret(key);
    if (typeof value === 'string') return undefined;
    if (value === undefined) return `No connected client can provide its key ${key}.`;
    return `Its key ${key} is missing: store it with "Conductor: Set Key", or set the environment variable for the command line.`;
  }
}

export function workersHandlers(pool: PoolEditor): RequestHandlers<ClientRequests, WorkerMethods> {
  return {
    'pool/get': () => pool.get(),
    'worker/save': ({ worker, conductor }) => pool.save(worker, conductor),
    'worker/remove': ({ id }) => pool.remove(id),
    'worker/try': ({ worker }, { signal }) => pool.try(worker, signal),
    'conductor/choose': ({ id }) => pool.chooseConductor(id),
    'pool/create': () => pool.create(),
    'servers/models': ({ server }, { signal }) => pool.listModels(server, signal),
    'agents/find': async () => ({ agents: await pool.findAgents() }),
    'servers/find': (_params, { signal }) => pool.findServers(signal),
  };
}

function notFound(id: string): RequestError {
  return new RequestError({ code: ERROR_CODES.notFound, kind: 'worker-not-found', message: `There is no worker "${id}".` });
}
