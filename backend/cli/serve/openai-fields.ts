import * as z from 'zod';
import type { AnswerFormat } from '../../protocol/conversation.ts';

/* What OpenAI's two formats say alike. */

/** Workers are not asked for them. */
export const NO_LOGPROBS = 'workers do not say how sure they are';
export const noTopLogprobs = z.literal(0, { error: NO_LOGPROBS }).nullish();

/** A tool's parameters. */
export const parametersSchema = z.record(z.string(), z.unknown()).nullish();
/** Of a tool that says none. */
export const NO_PARAMETERS = { type: 'object', properties: {} } as const;

/** The modes of `tool_choice`, and what is said of all others. */
export const choiceModeSchema = z.enum(['auto', 'none', 'required']);

/** A schema that the answer is held to. */
export const schemaFormatFields = { name: z.string().regex(/^[\w-]{1,64}$/), schema: z.record(z.string(), z.unknown()).default({}), strict: z.boolean().nullish() };

export function schemaFormat({ name, schema, strict }: z.infer<z.ZodObject<typeof schemaFormatFields>>): AnswerFormat {
  return { name, schema, ...(typeof strict === 'boolean' && { isStrict: strict }) };
}
