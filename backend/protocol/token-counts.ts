import type { Usage } from './usage.ts';

/* Arithmetic on usage, apart from its schema, so that the webview can add up tokens without carrying a validator. */

export const NO_USAGE: Usage = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0, estimated: false };

export function totalTokens(usage: Usage): number {
  return usage.uncachedInput + usage.cacheRead + usage.cacheWrite + usage.output + usage.reasoning;
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    uncachedInput: a.uncachedInput + b.uncachedInput,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
    estimated: a.estimated || b.estimated,
  };
}
