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
  // The contract takes addresses with http on this machine alone.
  if (protocol !== 'http:') return { state: 'unasked' };
  try {
    const names = await modelsAt(baseUrl, AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), signal]));
    if (names === 'unlisted') return { state: 'unlisted' };
    if (!names) {
      return { state: 'silent', reason: `What answers at ${origin} lists no models, as a server of models does: look at the worker's address.` };
    }
    // Ollama calls `qwen3:latest` what may be asked for as `qwen3`.
    if (names.includes(model) || names.includes(`${model}:latest`)) return { state: 'answers' };
    return { state: 'silent', reason: `The server at ${origin} answers, and has no model "${model}": load it there, or take another.` };
  } catch {
    signal.throwIfAborted();
    return { state: 'silent', reason: `Nothing answers at ${origin}: start the server.` };
  }
}
