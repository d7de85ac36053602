interface Subscription {
  /** The last event the client knows, from the snapshot or sent since. */
  lastSeq: number;
  /** What happened between the snapshot and the reply that carries it. */
  held: (() => void)[] | undefined;
}

/**
 * What one client follows, by id: it is given a snapshot as the reply to its request, and after that reply everything that has happened
 * since, each event once and without a gap.
 */
export class Subscriptions {
  readonly #subscriptions = new Map<string, Subscription>();

  /** @param take takes the snapshot; what it throws is thrown, and an earlier subscription stays. */
  begin<Snapshot extends { readonly seq: number }>(id: string, take: () => Snapshot, afterReply: (callback: () => void) => void): Snapshot {
    const subscription: Subscription = { lastSeq: 0, held: [] };
    const previous = this.#subscriptions.get(id);
    // Subscribed before the snapshot is taken, so that nothing falls between the two; what is in both is told by its number.
    this.#subscriptions.set(id, subscription);
    try {
      const snapshot = take();
      subscription.lastSeq = snapshot.seq;
      afterReply(() => {
        // A later subscription to the same has a later snapshot, and what is held here is in it.
        if (this.#subscriptions.get(id) === subscription) this.#release(subscription);
      });
      return snapshot;
    } catch (error) {
      if (previous) this.#subscriptions.set(id, previous);
      else this.#subscriptions.delete(id);
      throw error;
    }
  }

  end(id: string): void {
    this.#subscriptions.delete(id);
  }

  clear(): void {
    this.#subscriptions.clear();
  }

  /** Sends where the client follows this; an event (with its number) only where the client does not know it. */
  deliver(id: string, send: () => void, seq?: number): void {
    const subscription = this.#subscriptions.get(id);
    if (!subscription) return;
    const deliver = (): void => {
      if (seq !== undefined && seq <= subscription.lastSeq) return;
      subscription.lastSeq = seq ?? subscription.lastSeq;
      send();
    };
    if (subscription.held) subscription.held.push(deliver);
    else deliver();
  }

  #release(subscription: Subscription): void {
    const held = subscription.held ?? [];
    subscription.held = undefined;
    for (const send of held) send();
  }
}
