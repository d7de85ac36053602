import type { WorkerConfig } from '../protocol/worker-config.ts';
import { WorkerError } from './errors.ts';
import { ask, type TryOptions } from './try-worker.ts';

/** As few tokens as show that the server computes with the adapter. */
const PROBE_TOKENS = 8;

/**
 * Has the server of a served Conductor load the worker's adapter, and asks for a few tokens with it. Does nothing for other workers, and without an
 * adapter. The Conductor that plans is not touched: another version has another name there.
 * @throws WorkerError where the server does not load it or does not answer with it
 */
export async function rollOut(worker: WorkerConfig, options: TryOptions): Promise<void> {
  const { served, adapter } = worker;
  if (!served || adapter === undefined) return;
  let refused: WorkerError | undefined;
  try {
    await options.caller.load(worker, options);
  } catch (error) {
    // A server without that route may have been started with the adapter.
    if (!(error instanceof WorkerError && error.kind === 'not-found')) throw error;
    refused = error;
  }
  const answer = await ask(worker, { messages: [{ role: 'user', content: 'Plan.' }], continuation: { prefill: '', adapter }, maxOutputTokens: PROBE_TOKENS }, options);
  if ('error' in answer) throw refused ?? answer.error;
}

/** Has the server of a served Conductor forget adapters (folders) that nobody plans with any more. What cannot be had from it stays loaded there. Never rejects. */
export async function withdraw(worker: WorkerConfig, adapters: readonly string[], { caller, ...options }: TryOptions): Promise<void> {
  if (worker.served && adapters.length > 0) await caller.unload(worker, adapters, options).catch(() => undefined);
}
