interface Subscription {
  /** The last event that the client has, from the snapshot or sent later. */
  lastSeq: number;
  /** Messages since the snapshot, held until the reply with the snapshot is sent. */
  held: (() => void)[] | undefined;
}

/**
 * The subscriptions of one client, by id. The client receives a snapshot as the reply to its request, and after that every later event
 * exactly once.
 */
export class Subscriptions {
  readonly #subscriptions = new Map<string, Subscription>();

  /** @param take takes the snapshot. If it throws, the error is thrown and an earlier subscription stays. */
  begin<Snapshot extends { readonly seq: number }>(id: string, take: () => Snapshot, afterReply: (callback: () => void) => void): Snapshot {
    const subscription: Subscription = { lastSeq: 0, held: [] };
    const previous = this.#subscriptions.get(id);
    // Subscribe before taking the snapshot, so that no event is lost. Sequence numbers remove events that are also in the snapshot.
    this.#subscriptions.set(id, subscription);
    try {
      const snapshot = take();
      subscription.lastSeq = snapshot.seq;
      afterReply(() => {
        // A later subscription to the same id has a later snapshot, which includes the events held here.
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

  /** Sends if the client is subscribed. An event with a sequence number is sent only if the client does not have it. */
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
