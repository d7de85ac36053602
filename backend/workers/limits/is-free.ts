import { isLoopback, type WorkerConfig } from '../../protocol/worker-config.ts';

/**
 * Whether the worker's model answers on this machine, and nobody sends a bill. Of a server here only its price tells: one that hands
 * the call on to another machine, as Ollama does with the models of its cloud, has the same address and a price that is not known.
 */
export function isFree({ provider, baseUrl, price }: Pick<WorkerConfig, 'provider' | 'baseUrl' | 'price'>): boolean {
  if (provider === 'local') return true;
  const isHere = baseUrl !== undefined && isLoopback(baseUrl);
  return isHere && price?.inputPerMillion === 0 && price.outputPerMillion === 0;
}
