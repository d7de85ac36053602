import type { Clients } from './clients.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface ClientQuestion<T> {
  readonly clients: Pick<Clients, 'changed'>;
  readonly signal: AbortSignal;
  /** `undefined` when nobody was there to answer. */
  readonly ask: () => Promise<T | undefined>;
  /** Nobody answered. What it returns resolves when the question is worth asking, and its waiting worth telling, once more. */
  readonly onNobody: () => Promise<void>;
}

/** Asks the clients, and asks again whenever one connects, until somebody answers. @throws the signal's reason at once. */
export async function askClients<T>({ clients, signal, ask, onNobody }: ClientQuestion<T>): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const round = new AbortController();
    // Begun before the question, so that a client which connects meanwhile is not missed; it also ends a question that hangs.
    const changed = clients.changed(AbortSignal.any([signal, round.signal]));
    changed.catch(() => {});
    try {
      const answer = await unlessAborted(ask(), signal);
      if (answer !== undefined) return answer;
      await Promise.race([changed, onNobody()]);
    } finally {
      round.abort();
    }
  }
}
