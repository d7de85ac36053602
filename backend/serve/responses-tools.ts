import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { OfferedTool, ToolChoice } from '../protocol/conversation.ts';
import type { ToolCall } from '../protocol/tool-calls.ts';
import { invalid } from './endpoint-error.ts';
import { allowedModeSchema, allowedTools, choiceModeSchema, NO_PARAMETERS, parametersSchema } from './openai-fields.ts';

/*
 * Tools of OpenAI's Responses. Workers of all providers know functions alone. A custom tool takes text of any form, so it is offered as a function with one
 * text; a namespace holds tools, so its name stands before theirs. Calls go back in the form that the client knows.
 */

const name = z.string().min(1).max(128);
const functionSchema = z.object({ type: z.literal('function'), name, description: z.string().nullish(), parameters: parametersSchema, strict: z.boolean().nullish() });
const customSchema = z.object({
  type: z.literal('custom'), name, description: z.string().nullish(),
  format: z.union([z.object({ type: z.literal('text') }), z.object({ type: z.literal('grammar'), syntax: z.string(), definition: z.string() })]).nullish(),
});
const innerSchema = z.discriminatedUnion('type', [functionSchema, customSchema], { error: 'only tools of type "function" and "custom" are handed on' });
const namespaceSchema = z.object({ type: z.literal('namespace'), name, description: z.string().nullish(), tools: z.array(innerSchema).max(1_000) });
/** Codex offers it unless it is switched off. Workers do not hear of it. */
const searchSchema = z.object({ type: z.enum(['web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11']) });

export const toolsSchema = z.array(z.discriminatedUnion('type', [functionSchema, customSchema, namespaceSchema, searchSchema], {
  error: 'tools of type "function", "custom" and "namespace" are handed on: OpenAI\'s servers, which define or run the others, are not here',
})).max(1_000);

const namedSchema = z.object({ type: z.enum(['function', 'custom']), name });
export const choiceSchema = z.union([choiceModeSchema, namedSchema, z.object({ type: z.literal('allowed_tools'), mode: allowedModeSchema, tools: z.array(namedSchema).min(1).max(1_000) })], {
  error: 'it is "auto", "none", "required", one function or custom tool, or those that are allowed',
});

/** How the client names a tool. */
interface ClientTool {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly isCustom: boolean;
}

interface NamedTool {
  readonly tool: z.infer<typeof innerSchema>;
  readonly namespace: string | undefined;
  /** To workers. */
  readonly known: string;
}

/** The longest name that all providers take. */
const MAX_NAME = 64;
/** What a custom tool is called with, as a function. */
const inputSchema = z.object({ input: z.string() });

/** The name by which workers know a tool. */
export function workerName({ name: own, namespace }: { readonly name: string; readonly namespace?: string | null | undefined }): string {
  if (!namespace) return own;
  const joined = namespace.endsWith('__') ? `${namespace}${own}` : `${namespace}__${own}`;
  return joined.length <= MAX_NAME ? joined : `${joined.slice(0, MAX_NAME - 9)}_${createHash('sha256').update(joined).digest('hex').slice(0, 8)}`;
}

/** The tools of one request, as workers and as the client know them. */
export class ResponsesTools {
  readonly offered: readonly OfferedTool[];
  readonly #known: ReadonlyMap<string, ClientTool>;

  /** @throws EndpointError for two tools that workers could not tell apart */
  constructor(tools: z.infer<typeof toolsSchema>) {
    const named = tools.flatMap((tool): NamedTool[] => {
      if ('tools' in tool) return tool.tools.map((inner) => ({ tool: inner, namespace: tool.name, known: workerName({ name: inner.name, namespace: tool.name }) }));
      return 'name' in tool ? [{ tool, namespace: undefined, known: tool.name }] : [];
    });
    this.offered = named.map(({ tool, known }) => offeredTool(tool, known));
    this.#known = new Map(named.map(({ tool, namespace, known }) => [known, { name: tool.name, namespace, isCustom: tool.type === 'custom' }]));
    const double = named.find(({ known }, index) => named.findIndex((one) => one.known === known) !== index);
    if (double) throw invalid(`tools: there are two with the name "${double.known}".`);
  }

  /** Those that may be called, and how. @throws EndpointError for a tool that is not there */
  chosen(asked: z.infer<typeof choiceSchema> | null | undefined): { tools: OfferedTool[]; toolChoice?: ToolChoice } {
    const tools = [...this.offered];
    if (!asked || (tools.length === 0 && typeof asked === 'string')) return { tools };
    if (typeof asked === 'string') return { tools, toolChoice: asked };
    if (asked.type === 'allowed_tools') return allowedTools(tools, { mode: asked.mode, names: asked.tools.map((tool) => tool.name) });
    if (!this.#known.has(asked.name)) throw invalid(`tool_choice: there is no tool "${asked.name}".`);
    return { tools, toolChoice: { name: asked.name } };
  }

  /** What a worker calls, as the client knows it. @param ending of the item's id. A call's own id does not serve: some models count their calls anew in each answer */
  item({ id, name: called, arguments: written }: ToolCall, ending: string): CallItem {
    const { name: own, namespace, isCustom } = this.#known.get(called) ?? { name: called, isCustom: false };
    const named = { call_id: id, name: own, ...(namespace !== undefined && { namespace }), status: 'completed' };
    return isCustom ? { type: 'custom_tool_call', id: `ctc_${ending}`, ...named, input: inputOf(written) } : { type: 'function_call', id: `fc_${ending}`, ...named, arguments: written };
  }
}

export type CallItem = { readonly id: string; readonly status: string } & (
  { readonly type: 'function_call'; readonly arguments: string } | { readonly type: 'custom_tool_call'; readonly input: string }
);

function offeredTool(tool: z.infer<typeof innerSchema>, known: string): OfferedTool {
  const description = tool.description ?? '';
  if (tool.type === 'function') return { name: known, description, parameters: tool.parameters ?? NO_PARAMETERS, ...(tool.strict && { isStrict: true }) };
  const { format } = tool;
  const form = format?.type === 'grammar' ? `The input is text that this grammar (${format.syntax}) accepts:\n${format.definition}` : 'The input is text.';
  return {
    name: known, description: [description, form].filter((part) => part !== '').join('\n\n'),
    parameters: { type: 'object', properties: { input: { type: 'string', description: 'The whole input of the tool.' } }, required: ['input'], additionalProperties: false },
  };
}

/** The text that a custom tool is called with. Where a worker wrote no such object, what it wrote. */
function inputOf(written: string): string {
  try {
    return inputSchema.safeParse(JSON.parse(written)).data?.input ?? written;
  } catch {
    return written;
  }
}

/** A call of a custom tool, as the worker wrote it. */
export function inputArguments(input: string): string {
  return JSON.stringify({ input });
}
