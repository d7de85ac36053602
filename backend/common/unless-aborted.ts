/** Settles like the promise, or rejects with the signal's reason when it aborts. The promise itself continues. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const ending = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: ending.signal });
  });
  return Promise.race([promise, aborted]).finally(() => ending.abort());
}
