import { factsOf } from '../../protocol/providers.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { WorkerError } from '../errors.ts';
import { failureSentence } from '../failure-sentences.ts';

/**
 * Watches one attempt for silence. Until the first token only tokens count: keep-alives from the server do not extend the wait for a
 * model that is dead. After that any sign of life counts.
 */
export class StallWatch {
  readonly #worker: WorkerConfig;
  readonly #controller = new AbortController();
  /** Aborts when the caller does, with `cancelled`, or when the model stalls, with the timeout; the reason is a WorkerError. */
  readonly signal: AbortSignal = this.#controller.signal;
  readonly #caller: AbortSignal;
  readonly #onCallerAbort = () => this.#abort('cancelled');
  readonly #isTimed: boolean;
  #timer: NodeJS.Timeout | undefined;
  #begun = false;
  #stopped = false;

  constructor(worker: WorkerConfig, caller: AbortSignal) {
    this.#worker = worker;
    this.#caller = caller;
    this.#isTimed = factsOf(worker.provider).isTimed;
    if (this.#isTimed) this.#timer = setTimeout(() => this.#abort('first-token-timeout'), worker.firstTokenTimeoutMs);
    if (caller.aborted) this.#abort('cancelled');
    else caller.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** The model said or thought something. */
  token(): void {
    this.activity();
    if (this.#begun || this.#stopped || !this.#isTimed) return;
    this.#begun = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#abort('idle-timeout'), this.#worker.idleTimeoutMs);
  }

  /** The server showed a sign of life. */
  activity(): void {
    if (this.#begun && !this.#stopped) this.#timer?.refresh();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#onCallerAbort);
  }

  #abort(kind: 'cancelled' | 'first-token-timeout' | 'idle-timeout'): void {
    this.stop();
    this.#controller.abort(new WorkerError({ kind, message: failureSentence(kind, this.#worker) }));
  }
}
