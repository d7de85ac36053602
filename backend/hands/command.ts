import * as z from 'zod';
import type { Replacement } from '../verify/patch/replace-blocks.ts';

/** What a worker asks its hands to do. */
export type Command =
  | { readonly kind: 'read'; readonly path: string; readonly from?: number | undefined; readonly to?: number | undefined }
  | { readonly kind: 'search'; readonly pattern: string; readonly path?: string | undefined }
  | { readonly kind: 'edit'; readonly path: string; readonly replacements: readonly Replacement[] }
  | { readonly kind: 'create'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'test' }
  /** It cannot be understood: the worker is told why. */
  | { readonly kind: 'unreadable'; readonly name: string; readonly reason: string };

const MAX_ARGUMENT = 1024 * 1024;
const text = z.string().max(MAX_ARGUMENT);
const line = z.coerce.number().int().min(1).optional().catch(undefined);

/** The tools with the arguments of each. Names that models use elsewhere are taken, too. */
export const TOOL_ARGUMENTS = {
  read: z.object({ path: text, start_line: line, end_line: line }),
  search: z.object({ pattern: text, path: text.optional() }),
  edit: z.object({ path: text, search: text, replace: text }),
  create: z.object({ path: text, content: text }),
  delete: z.object({ path: text }),
  run: z.object({ command: text }),
  test: z.object({}),
} as const;
export type ToolName = keyof typeof TOOL_ARGUMENTS;

export const TOOL_NAMES = Object.keys(TOOL_ARGUMENTS) as ToolName[];

export const isToolName = (name: string): name is ToolName => Object.hasOwn(TOOL_ARGUMENTS, name);

/** The command of a tool with these arguments, which are untrusted. */
export function commandOf(name: string, given: unknown): Command {
  if (!isToolName(name)) return { kind: 'unreadable', name, reason: `There is no tool "${name.slice(0, 60)}". The tools are ${TOOL_NAMES.join(', ')}.` };
  const parsed = TOOL_ARGUMENTS[name].safeParse(given);
  if (!parsed.success) return { kind: 'unreadable', name, reason: malformed(parsed.error) };
  const values = parsed.data as Record<string, string> & { start_line?: number; end_line?: number };
  switch (name) {
    case 'read':
      return { kind: name, path: values['path'] ?? '', from: values.start_line, to: values.end_line };
    case 'search':
      return { kind: name, pattern: values['pattern'] ?? '', path: values['path'] };
    case 'edit':
      return { kind: name, path: values['path'] ?? '', replacements: [{ search: values['search'] ?? '', replace: values['replace'] ?? '', isExact: true }] };
    case 'create':
      return { kind: name, path: values['path'] ?? '', content: values['content'] ?? '' };
    case 'delete':
      return { kind: name, path: values['path'] ?? '' };
    case 'run':
      return { kind: name, command: values['command'] ?? '' };
    case 'test':
      return { kind: name };
  }
}

/** The command of a call whose arguments are JSON as a model wrote it. */
export function commandOfJson(name: string, json: string): Command {
  if (json.trim() === '') return commandOf(name, {});
  try {
    return commandOf(name, JSON.parse(json));
  } catch {
    return { kind: 'unreadable', name, reason: 'The arguments are not valid JSON. They may have been cut off: write less at once.' };
  }
}

function malformed({ issues: [issue] }: z.ZodError): string {
  const where = issue?.path.join('.');
  return `The arguments do not fit: ${where ? `"${where}": ` : ''}${issue?.message ?? 'not valid'}.`;
}
