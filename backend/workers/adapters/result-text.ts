import type { ToolResult } from '../model.ts';

/** A result for formats that have no field for a tool that failed: OpenAI's. */
export function resultText({ content, isError = false }: ToolResult): string {
  return isError ? `[The tool failed.]\n${content}` : content;
}
