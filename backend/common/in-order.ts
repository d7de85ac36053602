/** So many times `atOnce` are begun before the first of them has ended: it may take long. */
const AHEAD = 3;

/**
 * Works on several items at the same time and yields the results in the order of the items. When the reader leaves early, or the work on one
 * fails, the work on the others is aborted, and has ended before this ends. Throws what `work` throws, or the signal's reason.
 */
export async function* inOrder<Item, Result>(
  items: readonly Item[], { atOnce, signal }: { readonly atOnce: number; readonly signal: AbortSignal },
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  const left = items.values();
  const begun: Promise<Result>[] = [];
  let underWay = 0;
  const begin = (): void => {
    while (underWay < atOnce && begun.length < AHEAD * atOnce && !either.aborted) {
      const { value: item, done } = left.next();
      if (done) return;
      underWay += 1;
      const one = work(item, either).finally(() => {
        underWay -= 1;
        begin();
      });
      // Its turn may never come.
      one.catch(() => undefined);
      begun.push(one);
    }
  };
  try {
    for (;;) {
      signal.throwIfAborted();
      begin();
      const first = begun.shift();
      if (!first) return;
      yield await first;
    }
  } finally {
    leaving.abort();
    await Promise.allSettled(begun);
  }
}
