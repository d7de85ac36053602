import type { Clients } from './clients.ts';
import { unlessAborted } from '../common/unless-aborted.ts';

export interface ClientQuestion<T> {
  readonly clients: Pick<Clients, 'changed'>;
  readonly signal: AbortSignal;
  /** `undefined` if no client could answer. */
  readonly ask: () => Promise<T | undefined>;
  /** Called when no client answered. Its promise resolves when it makes sense to ask again. */
  readonly onNobody: () => Promise<void>;
}

/** Asks the clients, again after each new connection, until one answers. @throws the signal's reason, immediately */
export async function askClients<T>({ clients, signal, ask, onNobody }: ClientQuestion<T>): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const round = new AbortController();
    // Started before the question, so that no client that connects meanwhile is missed. It also ends a question that hangs.
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
