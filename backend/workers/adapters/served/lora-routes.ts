import { readAtMost } from '../../../common/read-at-most.ts';
import { unlessAborted } from '../../../common/unless-aborted.ts';
import { NO_USAGE } from '../../../protocol/token-counts.ts';
import type { WorkerConfig } from '../../../protocol/worker-config.ts';
import { baseUrlOf, serverKey } from '../../servers/server-of.ts';
import { classifyError } from '../classify-error.ts';
import { loadRefusal, type Refused } from './load-refusal.ts';
import { copyForServer, type ServedAdapter } from './served-adapter.ts';

export interface LoadOptions {
  readonly key: string | undefined;
  readonly signal: AbortSignal;
  /** Replaces what the server has under the name: after a first try that was cut off, that need not be the whole adapter. */
  readonly inPlace?: boolean | undefined;
}

/** An adapter of 7B parameters has some hundred megabytes, perhaps on a slow shared folder. */
const TIMEOUT_MS = 5 * 60_000;
/** An answer is one sentence. */
const MAX_ANSWER_BYTES = 64 * 1_024;

/** Loads adapters by vLLM's routes for that (its docs/features/lora.md). Nothing is remembered: whether an adapter is there, the server says. */
export class LoraRoutes {
  /** Loads under way, by server and adapter. */
  readonly #loading = new Map<string, Promise<void>>();

  /**
   * Has the server load the adapter. One that is there already counts as loaded. Calls for the same one share a load, which goes on without
   * them when they are aborted.
   * @throws WorkerError
   */
  async load(worker: WorkerConfig, adapter: ServedAdapter, { key, signal, inPlace = false }: LoadOptions): Promise<void> {
    const id = `${serverKey(worker)} ${adapter.name} ${inPlace}`;
    let loading = this.#loading.get(id);
    if (!loading) {
      loading = load(worker, adapter, { key, inPlace }).finally(() => this.#loading.delete(id));
      // Whoever waits handles the failure; perhaps nobody waits any more.
      loading.catch(() => undefined);
      this.#loading.set(id, loading);
    }
    try {
      await unlessAborted(loading, signal);
    } catch (error) {
      throw classifyError(error, { worker, key, messages: [], signal, usage: NO_USAGE });
    }
  }
}

/** Has the server forget what it calls so; calls under way end as they began. What cannot be unloaded stays. Never rejects. */
export async function unload(worker: WorkerConfig, name: string, { key, signal }: Pick<LoadOptions, 'key' | 'signal'>): Promise<void> {
  await post(worker, 'unload_lora_adapter', { lora_name: name }, { key, signal }).catch(() => undefined);
}

async function load(worker: WorkerConfig, adapter: ServedAdapter, { key, inPlace }: Omit<LoadOptions, 'signal'>): Promise<void> {
  await copyForServer(worker, adapter);
  const body = { lora_name: adapter.name, lora_path: adapter.serverPath, ...(inPlace && { load_inplace: true }) };
  const response = await post(worker, 'load_lora_adapter', body, { key, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const refused: Refused = { status: response.status, body: await beginningOf(response) };
  if (response.ok) return;
  const error = loadRefusal(worker, adapter, refused, key);
  if (error) throw error;
}

async function post(worker: WorkerConfig, route: string, body: object, { key, signal }: Pick<LoadOptions, 'key' | 'signal'>): Promise<Response> {
  return await fetch(`${baseUrlOf(worker).replace(/\/+$/, '')}/${route}`, {
    method: 'POST', redirect: 'manual', signal,
    headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(body),
  });
}

/** The beginning of an answer; the rest is not read. */
async function beginningOf({ body }: Response): Promise<string> {
  if (!body) return '';
  const { bytes } = await readAtMost(body, MAX_ANSWER_BYTES);
  return bytes.subarray(0, MAX_ANSWER_BYTES).toString();
}
