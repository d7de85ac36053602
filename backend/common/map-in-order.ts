/** Maps items concurrently, with results in their order. After the first failure no item is begun, and those under way end before it is thrown. */
export async function mapInOrder<T, R>(items: readonly T[], concurrency: number, map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  let failure: { readonly error: unknown } | undefined;
  await Promise.all(Array.from({ length: concurrency }, async () => {
    for (const [index, item] of queue) {
      if (failure) return;
      try {
        results[index] = await map(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  }));
  if (failure) throw failure.error;
  return results;
}
