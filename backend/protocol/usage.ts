import { z } from 'zod';

const tokens = z.number().int().nonnegative();

/**
 * Tokens of one model call. The five counts never overlap: `uncachedInput`, `cacheRead` and `cacheWrite` add up to the input,
 * `reasoning` is the part of the output that was thought and not said, and is not contained in `output`.
 */
export const usageSchema = z.object({
  uncachedInput: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  output: tokens,
  reasoning: tokens,
  /** True when the provider reported nothing and the counts are our own guess. */
  estimated: z.boolean(),
});
export type Usage = z.infer<typeof usageSchema>;

/** What a call cost. `usd` is absent where no price is known: unpriced is not free. */
export const costSchema = z.object({
  usd: z.number().nonnegative().optional(),
  estimated: z.boolean(),
});
export type Cost = z.infer<typeof costSchema>;

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
