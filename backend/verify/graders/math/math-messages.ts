import * as z from 'zod';

/** A request to the comparing process. Both results are LaTeX in normal form. */
export const mathRequestSchema = z.object({
  id: z.number().int(),
  expected: z.string(),
  given: z.string(),
  tolerance: z.object({ relative: z.number(), absolute: z.number() }).optional(),
});

export type MathRequest = z.infer<typeof mathRequestSchema>;

export const mathReplySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('compared'), id: z.number().int(), same: z.boolean() }),
]);

export type MathReply = z.infer<typeof mathReplySchema>;
