/**
 * Returns `next` with every part that equals its counterpart in `previous` replaced by that counterpart. A state arrives as a structured
 * clone, so none of its objects are identical to earlier ones. After this, views can compare by identity again, and a streaming step does
 * not redraw the others. Accepts JSON values: no cycles, no classes.
 */
export function share<T>(previous: unknown, next: T): T {
  if (Object.is(previous, next)) return next;
  if (Array.isArray(previous) && Array.isArray(next)) {
    const shared: unknown[] = next.map((value, index) => share(previous[index], value));
    const unchanged = previous.length === next.length && shared.every((value, index) => value === previous[index]);
    return (unchanged ? previous : shared) as T;
  }
  if (isRecord(previous) && isRecord(next)) {
    const keys = Object.keys(next);
    const shared = Object.fromEntries(keys.map((key) => [key, share(previous[key], next[key])]));
    const unchanged =
      Object.keys(previous).length === keys.length && keys.every((key) => key in previous && shared[key] === previous[key]);
    return (unchanged ? previous : shared) as T;
  }
  return next;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
