import * as z from 'zod';
import type { AnswerFormat, OfferedTool, ToolChoice } from '../protocol/conversation.ts';
import { invalid } from './endpoint-error.ts';

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

/** How the tools that may be called are to be called, in the choice `allowed_tools`. */
export const allowedModeSchema = z.enum(['auto', 'required']);

/** The tools that may be called. Not every provider knows such a choice, so workers are not offered the others. @throws EndpointError for one that is not there */
export function allowedTools(offered: readonly OfferedTool[], { mode, names }: { readonly mode: z.infer<typeof allowedModeSchema>; readonly names: readonly string[] }): { tools: OfferedTool[]; toolChoice: ToolChoice } {
  const missing = names.find((name) => !offered.some((tool) => tool.name === name));
  if (missing !== undefined) throw invalid(`tool_choice: there is no tool "${missing}".`);
  return { tools: offered.filter(({ name }) => names.includes(name)), toolChoice: mode };
}

/** A schema that the answer is held to. */
export const schemaFormatFields = { name: z.string().regex(/^[\w-]{1,64}$/), schema: z.record(z.string(), z.unknown()).default({}), strict: z.boolean().nullish() };

export function schemaFormat({ name, schema, strict }: z.infer<z.ZodObject<typeof schemaFormatFields>>): AnswerFormat {
  return { name, schema, ...(typeof strict === 'boolean' && { isStrict: strict }) };
}
