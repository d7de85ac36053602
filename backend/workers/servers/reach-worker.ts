import { isServerProvider } from '../../protocol/providers.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { modelsAt } from './find-servers.ts';
import { MODEL_LISTS } from './model-lists.ts';
import { baseUrlOf } from './server-of.ts';

const TIMEOUT_MS = 2_000;

/**
 * Whether a worker's server answers and has its model. `unlisted`: it answers without listing its models. `unasked`: only a call would
 * tell, and a call may cost money.
 */
export type Reach = { readonly state: 'answers' | 'unlisted' | 'unasked' } | { readonly state: 'silent'; readonly reason: string };

/** Lists the models of a worker's server if it is on this machine. This costs nothing, and the key is not sent. */
export async function reachWorker(worker: WorkerConfig, signal: AbortSignal): Promise<Reach> {
  const { provider, model } = worker;
  if (!isServerProvider(provider) || !MODEL_LISTS[provider].isOpen) return { state: 'unasked' };
  const baseUrl = baseUrlOf(worker);
  const { origin, protocol } = new URL(baseUrl);
  // The configuration allows http only for addresses on this machine.
  if (protocol !== 'http:') return { state: 'unasked' };
  try {
    const names = await modelsAt(baseUrl, AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), signal]));
    if (names === 'unlisted') return { state: 'unlisted' };
    if (!names) {
      return { state: 'silent', reason: `The program at ${origin} lists no models: check the worker's address.` };
    }
    // Ollama lists `qwen3` as `qwen3:latest`.
    if (names.includes(model) || names.includes(`${model}:latest`)) return { state: 'answers' };
    return { state: 'silent', reason: `The server at ${origin} answers, but has no model "${model}": load it there, or choose another.` };
  } catch {
    signal.throwIfAborted();
    return { state: 'silent', reason: `Nothing answers at ${origin}: start the server.` };
  }
}
