import type { Result, ClientRequests } from '../protocol/methods.ts';
import { NO_USAGE } from '../protocol/token-counts.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { WorkerCaller } from './call-worker.ts';
import type { ClientModel } from './adapters/client-model.ts';
import { WorkerError } from './errors.ts';
import type { KeySource } from './key-source.ts';
import type { AttemptLog, AttemptSpent, Ledger } from './limits/ledger.ts';

export type TryResult = Result<ClientRequests, 'worker/try'>;

export interface TryOptions {
  readonly caller: WorkerCaller;
  readonly keys: KeySource;
  readonly clientModel?: ClientModel | undefined;
  readonly signal: AbortSignal;
}

/** Enough for a model that reasons before it answers. */
const MAX_OUTPUT_TOKENS = 1_024;

/** The user requested this call: it belongs to no run and no budget. */
const noLedger: Ledger = { reserve: () => ({ id: 'try' }) };

/** Tests a worker with one small real call, without retries. Failures of the worker are results; other errors are thrown. */
export async function tryWorker(worker: WorkerConfig, { caller, keys, clientModel, signal }: TryOptions): Promise<TryResult> {
  let spent: AttemptSpent = { usage: NO_USAGE, cost: { estimated: false }, durationMs: 0 };
  const attempts: AttemptLog = {
    started: () => undefined,
    succeeded: () => undefined,
    failed: (_attempt, _failure, cost) => {
      spent = cost;
    },
  };
  try {
    const { reply, spent: cost } = await caller.call(
      worker,
      {
        messages: [{ role: 'user', content: 'Reply with the single word: ready' }],
        maxOutputTokens: Math.min(worker.maxOutputTokens, MAX_OUTPUT_TOKENS),
      },
      { ledger: noLedger, attempts, keys, clientModel, signal, onText: () => undefined, maxAttempts: 1 },
    );
    const seconds = (cost.durationMs / 1_000).toFixed(1);
    const message =
      reply.text.trim() === '' && reply.finishReason === 'length'
        ? `Worker "${worker.id}" works (${reply.model}, ${seconds} s), but used all its tokens for reasoning and gave no answer.`
        : `Worker "${worker.id}" works (${reply.model}, ${seconds} s).`;
    return { ok: true, message, text: reply.text, ...cost };
  } catch (error) {
    if (!(error instanceof WorkerError)) throw error;
    return { ok: false, kind: error.kind, message: error.message, text: '', ...spent };
  }
}
