import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after a time; rejects with the signal's reason as soon as it aborts. */
export type Delay = (ms: number, signal: AbortSignal) => Promise<void>;

export const delay: Delay = async (ms, signal) => {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    // Node wraps the reason in an error of its own.
    signal.throwIfAborted();
    throw error;
  }
};
