import { workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import type { SimulatedWorker } from '../../backend/simulator/pool.ts';

/** Simulated workers as they stand in a pool, where nobody calls them over the wire. */
export function poolOf(workers: readonly SimulatedWorker[]): WorkerConfig[] {
  return workers.map(({ name, description, price }) => workerConfigSchema.parse({
    id: name, provider: 'openai-compatible', model: name, baseUrl: 'http://127.0.0.1:1/v1', price, description, simulated: true,
  }));
}
