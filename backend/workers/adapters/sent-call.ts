import type { ToolCall } from '../../protocol/tool-calls.ts';

type JsonObject = Record<string, unknown>;

/**
 * A call as it is sent back. Several servers refuse or cannot render a conversation with a malformed call, so its name is mended and its
 * arguments become an object that holds them.
 */
export function sentCall({ id, name, arguments: written }: ToolCall): { id: string; name: string; input: JsonObject } {
  return { id, name: name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unnamed', input: objectIn(written) ?? { INVALID_JSON: written } };
}

function objectIn(written: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** The same, for formats that have the arguments as text. Well-formed ones keep their exact text, which providers cache. */
export function sentCallText(call: ToolCall): { id: string; name: string; arguments: string } {
  const { id, name, input } = sentCall(call);
  return { id, name, arguments: 'INVALID_JSON' in input ? JSON.stringify(input) : call.arguments };
}
