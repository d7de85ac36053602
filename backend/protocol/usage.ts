import * as z from 'zod';

const tokens = z.number().int().nonnegative();

/**
 * Tokens of one model call. The five counts never overlap: `uncachedInput`, `cacheRead` and `cacheWrite` add up to the input,
 * `reasoning` counts hidden reasoning tokens, which are not in `output`.
 */
export const usageSchema = z.object({
  uncachedInput: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
  output: tokens,
  reasoning: tokens,
  /** True if the provider reported no usage and the counts are estimates. */
  estimated: z.boolean(),
});
export type Usage = z.infer<typeof usageSchema>;

/** The cost of a call. `usd` is absent if no price is known: unpriced is not free. */
export const costSchema = z.object({
  usd: z.number().nonnegative().optional(),
  estimated: z.boolean(),
});
export type Cost = z.infer<typeof costSchema>;
