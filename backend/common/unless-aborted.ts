/** Settles like the promise, or rejects with the signal's reason when it aborts. The promise itself continues. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason as Error);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
