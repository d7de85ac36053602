import type { AdaptivePause } from './adaptive-pause.ts';
import { beyond, type Gap } from './gap.ts';
import type { SuggestionCache } from './suggestion-cache.ts';

export interface SuggestionFlowOptions<G extends Gap> {
  /** Requests a suggestion for the gap. `onText` gets all text so far. Rejects when the signal aborts. */
  readonly ask: (gap: G, onText: (text: string) => void, signal: AbortSignal) => Promise<string>;
  readonly pause: AdaptivePause;
  readonly cache: SuggestionCache;
  /** Resolves after `ms` milliseconds; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => number;
}

/**
 * At each key the editor cancels its query and sends a new one after a pause without keys (50 ms in VS Code). A request without a waiting
 * query is cancelled after this time, unless the person types along with it meanwhile.
 */
const ORPHANED_MS = 1_000;

/** The reason of a cancelled request: its result is no longer needed. */
class Superseded extends Error {}

/** One request to a worker and the queries that wait for it. */
class Request<G extends Gap> {
  readonly gap: G;
  readonly done: Promise<string>;
  /** How often the document changed to a gap that the request fits. */
  keys = 0;
  readonly #controller = new AbortController();
  readonly #watching = new Set<() => void>();
  #text = '';
  #waiting = 0;
  #ended = false;

  constructor(gap: G, ask: SuggestionFlowOptions<G>['ask']) {
    this.gap = gap;
    this.done = ask(gap, (text) => this.#take(text), this.#controller.signal).finally(() => {
      this.#ended = true;
    });
    // Callers handle the rejection; there may be none.
    this.done.catch(() => undefined);
  }

  /** Whether its result, as received so far, fits the gap. */
  fits(gap: Gap): boolean {
    const { document, before, multiline } = this.gap;
    return (
      !this.#controller.signal.aborted && document === gap.document && (multiline || !gap.multiline) &&
      gap.before.startsWith(before) && beyond(gap) === beyond(this.gap) && this.#agrees(gap)
    );
  }

  /** The text typed since the request. */
  typed(gap: Gap): string {
    return gap.before.slice(this.gap.before.length);
  }

  /**
   * Resolves with the suggestion for a gap that the request fits, or with undefined as soon as the received text differs from the typed
   * text.
   */
  async answer(gap: Gap, signal: AbortSignal): Promise<string | undefined> {
    this.#waiting += 1;
    const ending = new AbortController();
    const diverged = new Promise<undefined>((resolve) => {
      const look = (): void => {
        if (!this.#agrees(gap)) resolve(undefined);
      };
      this.#watching.add(look);
      ending.signal.addEventListener('abort', () => this.#watching.delete(look));
    });
    const left = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: ending.signal });
    });
    try {
      const text = await Promise.race([this.done, diverged, left]);
      const typed = this.typed(gap);
      return text?.startsWith(typed) ? text.slice(typed.length) : undefined;
    } finally {
      this.#waiting -= 1;
      ending.abort();
    }
  }

  /** Aborts when the request is cancelled. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOrphaned(): boolean {
    return this.#waiting === 0 && !this.#ended;
  }

  cancel(): void {
    this.#controller.abort(new Superseded('The person went on.'));
  }

  #agrees(gap: Gap): boolean {
    const typed = this.typed(gap);
    return this.#text.startsWith(typed) || typed.startsWith(this.#text);
  }

  #take(text: string): void {
    this.#text = text;
    for (const look of [...this.#watching]) look();
  }
}

/**
 * Gets suggestions from the cache, from an active request that matches what the user types, or from a new request after a pause. There is
 * at most one request; it is cancelled as soon as it is useless.
 */
export class SuggestionFlow<G extends Gap> {
  readonly #options: SuggestionFlowOptions<G>;
  #request: Request<G> | undefined;

  constructor(options: SuggestionFlowOptions<G>) {
    this.#options = options;
  }

  /**
   * @param options `atOnce`: requested explicitly, so there is no pause
   * @returns the suggestion, empty if nothing fits; undefined if the signal aborted or the document changed
   * @throws the errors of `ask`
   */
  async suggest(gap: G, signal: AbortSignal, { atOnce = false }: { readonly atOnce?: boolean } = {}): Promise<string | undefined> {
    const { cache, pause, wait } = this.#options;
    const known = cache.get(gap);
    if (known !== undefined) return known;
    try {
      if (!this.#request?.fits(gap)) {
        this.cancel();
        if (!atOnce) await wait(pause.ms, signal);
        signal.throwIfAborted();
      }
      for (;;) {
        const request = this.#request?.fits(gap) ? this.#request : this.#start(gap);
        const text = await this.#answer(request, gap, signal);
        if (text !== undefined) return text;
      }
    } catch (error) {
      if (signal.aborted || error instanceof Superseded) return undefined;
      throw error;
    }
  }

  /** Whether a request is active. */
  get isAsking(): boolean {
    return this.#request !== undefined;
  }

  /** Cancels an active request as soon as the changed document no longer fits it. */
  changed(gap: Gap): void {
    // Changes in other documents do not affect the request.
    if (this.#request?.gap.document !== gap.document) return;
    if (this.#request.fits(gap)) this.#request.keys += 1;
    else this.cancel();
  }

  /** Cancels the active request. */
  cancel(): void {
    this.#request?.cancel();
    this.#request = undefined;
  }

  async #answer(request: Request<G>, gap: G, signal: AbortSignal): Promise<string | undefined> {
    try {
      const text = await request.answer(gap, signal);
      // After typing the whole suggestion, the user wants a new one.
      const isUsedUp = text === '' && request.typed(gap) !== '';
      if (text === undefined || isUsedUp) this.#drop(request);
      return isUsedUp ? undefined : text;
    } finally {
      if (request.isOrphaned) this.#cancelOrphan(request).catch(() => undefined);
    }
  }

  #start(gap: G): Request<G> {
    this.cancel();
    const { ask, cache, pause, now } = this.#options;
    const startedAt = now();
    const request = new Request(gap, ask);
    this.#request = request;
    request.done.then((text) => {
      pause.note(now() - startedAt);
      cache.put(gap, text);
    }, () => undefined).finally(() => {
      if (this.#request === request) this.#request = undefined;
    });
    return request;
  }

  #drop(request: Request<G>): void {
    request.cancel();
    if (this.#request === request) this.#request = undefined;
  }

  async #cancelOrphan(request: Request<G>): Promise<void> {
    let keys: number;
    do {
      ({ keys } = request);
      await this.#options.wait(ORPHANED_MS, request.signal);
    } while (request.isOrphaned && request.keys !== keys);
    if (request.isOrphaned) this.#drop(request);
  }
}
