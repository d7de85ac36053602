import { factsOf } from '../../protocol/providers.ts';
import { isLoopback, type WorkerConfig } from '../../protocol/worker-config.ts';

/**
 * Whether the model answers on this machine at no cost. For a server here the price decides: one that forwards calls to another
 * machine, as Ollama does for its cloud models, has the same address but no known price.
 */
export function isFree({ provider, baseUrl, price }: Pick<WorkerConfig, 'provider' | 'baseUrl' | 'price'>): boolean {
  if (factsOf(provider).isFree) return true;
  const isHere = baseUrl !== undefined && isLoopback(baseUrl);
  return isHere && price?.inputPerMillion === 0 && price.outputPerMillion === 0;
}
