/** What the promise comes to, or the signal's reason as soon as it aborts; the promise itself goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const ending = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: ending.signal });
  });
  return Promise.race([promise, aborted]).finally(() => ending.abort());
}
