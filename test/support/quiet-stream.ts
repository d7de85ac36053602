import type { StreamOptions } from '../../backend/workers/model.ts';

/** For a call whose stream does not matter. */
export const quietStream = (): StreamOptions => ({
  signal: new AbortController().signal, onText: () => {}, onThinking: () => {}, onActivity: () => {},
});
