import type { ClientRequests } from '../../protocol/methods.ts';
import type { Simulation } from '../../protocol/simulation.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import type { SimulatedPool } from '../simulated-pool.ts';

type SimulationMethods = Extract<keyof ClientRequests, `simulation/${string}`>;

export type SimulationService = Pick<SimulatedPool, 'current' | 'begin' | 'end' | 'listen'>;

/** What one client does with simulations. What it began ends with its connection. */
export class ClientSimulation {
  readonly #pool: SimulationService;
  readonly #log: (line: string) => void;
  readonly #stopListening: () => void;
  #begun: Simulation | undefined;
  #isClosed = false;

  constructor(pool: SimulationService, { onChanged, log }: { readonly onChanged: () => void; readonly log: (line: string) => void }) {
    this.#pool = pool;
    this.#log = log;
    this.#stopListening = pool.listen(onChanged);
  }

  handlers(): RequestHandlers<ClientRequests, SimulationMethods> {
    return {
      'simulation/get': () => ({ simulation: this.#pool.current ?? null }),
      'simulation/begin': async (request) => {
        const simulation = await this.#pool.begin(request);
        this.#begun = simulation;
        // The client may have left meanwhile.
        if (this.#isClosed) this.#end();
        return simulation;
      },
      'simulation/end': async () => {
        await this.#pool.end();
        return {};
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#stopListening();
    this.#end();
  }

  #end(): void {
    if (this.#begun) this.#pool.end(this.#begun).catch((error: unknown) => this.#log(`A simulation did not end cleanly: ${String(error)}`));
  }
}
