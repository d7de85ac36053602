import path from 'node:path';
import * as z from 'zod';

/* What agents write to the standard input of a hook when they are about to stop. */

/** The form in which an agent reads the answer. */
export type StopForm = 'decision' | 'vscode' | 'cursor';

export interface StopInput {
  readonly form: StopForm;
  /** The conversation; the same for each stop in it. */
  readonly session: string;
  /** The person's message that the agent works on, where the agent forgets that it was kept before. */
  readonly message?: { readonly words: string; /** Where the agent records the conversation. */ readonly transcript: string | undefined };
  /** The agent's folder, absolute; undefined if it names none. */
  readonly folder: string | undefined;
  /** The agent goes on because a hook has blocked its stop before. Undefined where the agent does not say. */
  readonly isContinued: boolean | undefined;
}

/**
 * Claude Code and Codex write snake case (https://docs.claude.com/en/docs/claude-code/hooks, https://developers.openai.com/codex/hooks), VS Code and
 * Copilot CLI camel case too (https://docs.github.com/en/copilot/reference/hooks-reference), and Cursor has fields of its own (https://cursor.com/docs/agent/hooks).
 * Gemini CLI writes snake case (https://geminicli.com/docs/hooks/reference).
 */
const inputSchema = z.looseObject({
  session_id: z.string().optional(),
  sessionId: z.string().optional(),
  conversation_id: z.string().optional(),
  cwd: z.string().optional(),
  workspace_roots: z.array(z.string()).optional(),
  hookEventName: z.string().optional(),
  hook_event_name: z.string().optional(),
  stop_hook_active: z.boolean().optional(),
  stopHookActive: z.boolean().optional(),
  loop_count: z.number().optional(),
  prompt: z.string().optional(),
  transcript_path: z.string().optional(),
});

/** Undefined if the text is no input of a hook. */
export function readStopInput(text: string): StopInput | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { data } = inputSchema.safeParse(json);
  if (!data) return undefined;
  const folder = data.cwd ?? data.workspace_roots?.[0];
  const session = data.session_id ?? data.sessionId ?? data.conversation_id ?? '';
  // Gemini CLI forgets that it was kept as soon as its model calls a tool. The person's message tells one task of a session from the next.
  const isForgetful = data.hook_event_name === 'AfterAgent';
  return {
    form: data.conversation_id !== undefined && data.session_id === undefined ? 'cursor' : data.hookEventName !== undefined && data.hook_event_name === undefined ? 'vscode' : 'decision',
    session,
    ...(isForgetful && { message: { words: data.prompt ?? '', transcript: data.transcript_path || undefined } }),
    folder: folder !== undefined && path.isAbsolute(folder) ? folder : undefined,
    isContinued: isForgetful ? undefined : data.stop_hook_active ?? data.stopHookActive ?? (data.loop_count ?? 0) > 0,
  };
}
