import type { ToolCall } from './tool-calls.ts';

/** What a model wrote in a turn, as text: its reply, and each call of a tool on a line of its own. */
export function turnText(reply: string, calls: readonly Pick<ToolCall, 'name' | 'arguments'>[] = []): string {
  return [reply, ...calls.map((call) => `${call.name} ${call.arguments}`)].filter((text) => text !== '').join('\n');
}
