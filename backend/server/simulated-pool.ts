import { SerialQueue } from '../common/serial-queue.ts';
import { ERROR_CODES } from '../protocol/methods.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { Simulation, SimulationRequest } from '../protocol/simulation.ts';
import { BUNDLED_MODEL, type WorkerConfig, type WorkersFile } from '../protocol/worker-config.ts';

/** Simulated workers that answer. */
export interface StartedSimulation {
  readonly workers: readonly WorkerConfig[];
  readonly folder: string;
  close(): Promise<void>;
}

export interface SimulatedPoolOptions {
  readonly start: (request: SimulationRequest) => Promise<StartedSimulation>;
  /** Called when a simulation has ended: what was learned from it is taken back. */
  readonly ended: () => Promise<void>;
}

/**
 * The simulated pool while a client has one. It is nowhere on disk: it is laid over the content of workers.json when that is read, so that
 * nothing has to be tidied up if a process is killed.
 */
export class SimulatedPool {
  readonly #options: SimulatedPoolOptions;
  readonly #changes = new SerialQueue();
  readonly #listeners = new Set<() => void>();
  #running: { readonly simulation: Simulation; readonly started: StartedSimulation } | undefined;

  constructor(options: SimulatedPoolOptions) {
    this.#options = options;
  }

  get current(): Simulation | undefined {
    return this.#running?.simulation;
  }

  /** Called when a simulation begins or ends. @returns a function that ends the subscription */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @throws RequestError if one runs already; what reads the files of tasks throws */
  begin(request: SimulationRequest): Promise<Simulation> {
    return this.#changes.run(async () => {
      if (this.#running) {
        throw new RequestError({ code: ERROR_CODES.refused, kind: 'simulation-running', message: 'A simulation runs already, in a terminal or in VS Code: end it first.' });
      }
      const started = await this.#options.start(request);
      const simulation = { ...request, workers: [...started.workers], folder: started.folder };
      this.#running = { simulation, started };
      this.#tell();
      return simulation;
    });
  }

  /** Ends the simulation that runs; only this one, if one is given. */
  end(simulation?: Simulation): Promise<void> {
    return this.#changes.run(async () => {
      const running = this.#running;
      if (!running || (simulation && simulation !== running.simulation)) return;
      this.#running = undefined;
      await running.started.close();
      await this.#options.ended();
      this.#tell();
    });
  }

  /** For the end of the process. What was learned is taken back when the next one starts. */
  async close(): Promise<void> {
    await this.#running?.started.close();
  }

  /** The pool that questions and trainings use: the simulated one in place of, or beside, that of the file. */
  over(file: WorkersFile): WorkersFile {
    if (!this.#running) return file;
    const { workers, beside } = this.#running.simulation;
    const ids = new Set(workers.map(({ id }) => id));
    const others = file.workers.filter(({ id }) => !ids.has(id));
    const simulated = workers.map(free);
    if (beside) return { ...file, workers: [...others, ...simulated] };
    // A worker that costs money does not plan, either. A model of this machine may: it is what a training trains.
    const { conductor, ...rest } = file;
    const isLocal = conductor === BUNDLED_MODEL || others.some(({ id, provider }) => id === conductor && provider === 'local');
    return { ...rest, ...(isLocal && { conductor }), workers: [...others.map((worker) => ({ ...worker, enabled: false })), ...simulated] };
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Made-up dollars must not count against the budget. */
function free(worker: WorkerConfig): WorkerConfig {
  return { ...worker, price: { inputPerMillion: 0, outputPerMillion: 0 } };
}
