import * as z from 'zod';

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
