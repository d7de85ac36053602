import type { AdaptivePause } from './adaptive-pause.ts';
import { beyond, type Gap } from './gap.ts';
import type { SuggestionCache } from './suggestion-cache.ts';

export interface SuggestionFlowOptions<G extends Gap> {
  /** Asks for what belongs at the gap; `onText` is told all of the text so far. Rejects once the signal aborts. */
  readonly ask: (gap: G, onText: (text: string) => void, signal: AbortSignal) => Promise<string>;
  readonly pause: AdaptivePause;
  readonly cache: SuggestionCache;
  /** Resolves after so many milliseconds, rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => number;
}

/**
 * An editor takes its question back at every key and asks anew once the keys pause; VS Code itself waits 50 ms for that. A request
 * that nobody has taken up after so long is cancelled.
 */
const ORPHANED_MS = 1_000;

/** What a request is cancelled with: what it asks for is of no use any more. */
class Superseded extends Error {}

/** One request at a worker, and who waits for it. */
class Request<G extends Gap> {
  readonly gap: G;
  readonly done: Promise<string>;
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
    // Whoever waits is told; nobody may.
    this.done.catch(() => undefined);
  }

  /** Whether what it asks for would do for the gap, as far as its text has come. */
  fits(gap: Gap): boolean {
    const { document, before, multiline } = this.gap;
    return (
      !this.#controller.signal.aborted && document === gap.document && (multiline || !gap.multiline) &&
      gap.before.startsWith(before) && beyond(gap) === beyond(this.gap) && this.#agrees(gap)
    );
  }

  /** What was typed since. */
  typed(gap: Gap): string {
    return gap.before.slice(this.gap.before.length);
  }

  /** Resolves with what belongs at a gap that it fits, and with undefined as soon as it turns out not to. */
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
 * From a place in a document to what belongs there: from what is known already, from a request under way that the person types
 * along with, or from a new request once they pause. There is one at a time, and one that is of no more use is cancelled at once.
 */
export class SuggestionFlow<G extends Gap> {
  readonly #options: SuggestionFlowOptions<G>;
  #request: Request<G> | undefined;

  constructor(options: SuggestionFlowOptions<G>) {
    this.#options = options;
  }

  /**
   * @param options `atOnce`: the person asked for it, so that there is nothing to wait for
   * @returns what belongs at the gap, empty where nothing does; undefined when the signal aborted or the document went another way
   * @throws what `ask` throws
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

  /** Whether a request is under way. */
  get isAsking(): boolean {
    return this.#request !== undefined;
  }

  /** The document reads like this now: what is under way and would not do for it any more is cancelled, before anybody asks. */
  changed(gap: Gap): void {
    // What changes elsewhere says nothing about it.
    if (this.#request?.gap.document === gap.document && !this.#request.fits(gap)) this.cancel();
  }

  /** Gives up what is under way. */
  cancel(): void {
    this.#request?.cancel();
    this.#request = undefined;
  }

  async #answer(request: Request<G>, gap: G, signal: AbortSignal): Promise<string | undefined> {
    try {
      const text = await request.answer(gap, signal);
      // What was typed to the end of the answer wants another one.
      const isUsedUp = text === '' && request.typed(gap) !== '';
      if (text === undefined || isUsedUp) this.#drop(request);
      return isUsedUp ? undefined : text;
    } finally {
      if (request.isOrphaned) void this.#cancelOrphan(request);
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
    await this.#options.wait(ORPHANED_MS, request.signal).catch(() => undefined);
    if (request.isOrphaned) this.#drop(request);
  }
}
