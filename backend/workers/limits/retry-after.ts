/**
 * The requested wait in milliseconds, from `retry-after-ms`, or from `Retry-After` as seconds or as a date (RFC 9110 §10.2.3).
 * @returns `undefined` if there is no valid header.
 */
export function parseRetryAfter(headers: Headers | undefined, now: number): number | undefined {
  const exact = Number(headers?.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return Math.ceil(exact);
  const value = headers?.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1_000);
  // Date.parse accepts almost any text. HTTP dates begin with a weekday.
  const date = /^[A-Z][a-z]{2,8},? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
