import type { BackendNotifications } from '../protocol/methods.ts';
import type { RunText, StoredEvent } from '../protocol/run-events.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { RunService } from '../solve/run-service.ts';
import type { z } from 'zod';

export interface FeedOutput {
  notify<K extends keyof BackendNotifications & string>(method: K, params: z.output<BackendNotifications[K]>): void;
  /** Whether text may be left out because the client does not keep up. It heals: the finished step brings the whole output. */
  readonly behind: boolean;
}

interface Subscription {
  /** The last event the client knows, from the snapshot or sent since. */
  lastSeq: number;
  /** What happened between the snapshot and the reply that carries it. */
  held: (() => void)[] | undefined;
}

/** What one client is told about runs: the events of those it subscribed to, and changes of all for its list. */
export class RunFeed {
  readonly #runs: RunService;
  readonly #output: FeedOutput;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #stopListening: () => void;

  constructor(runs: RunService, output: FeedOutput) {
    this.#runs = runs;
    this.#output = output;
    this.#stopListening = runs.listen({
      onEvent: (event) => this.#deliver(event.runId, (subscription) => this.#sendEvent(subscription, event)),
      onText: (text) => this.#deliver(text.runId, () => this.#sendText(text)),
      onChanged: (summary) => output.notify('run/changed', summary),
    });
  }

  /**
   * The run as of now. What happens from now on is sent after the reply that carries the snapshot, each event once.
   * @throws RunNotFoundError
   */
  subscribe(runId: string, afterReply: (callback: () => void) => void): RunSnapshot {
    const subscription: Subscription = { lastSeq: 0, held: [] };
    const previous = this.#subscriptions.get(runId);
    // Subscribed before the snapshot is taken, so that nothing falls between the two; what is in both is told by its number.
    this.#subscriptions.set(runId, subscription);
    try {
      const snapshot = this.#runs.snapshot(runId);
      subscription.lastSeq = snapshot.seq;
      afterReply(() => {
        // A later subscription to the same run has a later snapshot, and what is held here is in it.
        if (this.#subscriptions.get(runId) === subscription) this.#release(subscription);
      });
      return snapshot;
    } catch (error) {
      if (previous) this.#subscriptions.set(runId, previous);
      else this.#subscriptions.delete(runId);
      throw error;
    }
  }

  unsubscribe(runId: string): void {
    this.#subscriptions.delete(runId);
  }

  close(): void {
    this.#stopListening();
    this.#subscriptions.clear();
  }

  #deliver(runId: string, send: (subscription: Subscription) => void): void {
    const subscription = this.#subscriptions.get(runId);
    if (!subscription) return;
    if (subscription.held) subscription.held.push(() => send(subscription));
    else send(subscription);
  }

  #release(subscription: Subscription): void {
    const held = subscription.held ?? [];
    subscription.held = undefined;
    for (const send of held) send();
  }

  #sendEvent(subscription: Subscription, event: StoredEvent): void {
    if (event.seq <= subscription.lastSeq) return;
    subscription.lastSeq = event.seq;
    this.#output.notify('run/event', event);
  }

  #sendText(text: RunText): void {
    if (!this.#output.behind) this.#output.notify('run/text', text);
  }
}
