import { delay } from './delay.ts';

/**
 * Calls reserve far more than they spend, and many are under way together. A call that does not fit waits until others have released theirs.
 * @param mayPass whether the error is that of a call which may fit later; any other is thrown
 * @throws the call's error, or the signal's reason
 */
export async function whenOthersEnd<T>(
  call: () => Promise<T>, mayPass: (error: unknown) => boolean, { retryMs, signal }: { readonly retryMs: number; readonly signal: AbortSignal },
): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!mayPass(error)) throw error;
    }
    await delay(retryMs, signal);
  }
}
