import type { SpokenMessage } from '../../backend/protocol/conversation.ts';
import type { ToolCall } from '../../backend/protocol/tool-calls.ts';

/** A part of a message as VS Code hands it over. */
export type SentPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly kind: 'result'; readonly id: string; readonly parts: readonly SentPart[] }
  | { readonly kind: 'data'; readonly mimeType: string; readonly bytes: Uint8Array }
  /** Thinking of whichever model spoke before. */
  | { readonly kind: 'thinking' }
  /** Of a kind that did not exist when this was written. */
  | { readonly kind: 'unknown'; readonly value: unknown };

export interface SentMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly parts: readonly SentPart[];
}

/**
 * Messages of VS Code in the form of the protocol. Workers are sent text alone, so of a picture it is said that there was one. Thinking is left
 * out: a program cannot say who wrote it (decision 0026). Results of tools come before the text beside them, where the calls ask for them.
 */
export function spokenMessages(messages: readonly SentMessage[]): SpokenMessage[] {
  return messages.flatMap(({ role, parts }): SpokenMessage[] => {
    const content = textOf(parts);
    const results = parts.flatMap((part) => (part.kind === 'result' ? [{ role: 'tool' as const, callId: part.id, content: textOf(part.parts) }] : []));
    if (role !== 'assistant') return [...results, ...(content === '' ? [] : [{ role, content }])];
    const toolCalls = parts.flatMap((part): ToolCall[] => (part.kind === 'call' ? [{ id: part.id, name: part.name, arguments: JSON.stringify(part.input ?? {}) }] : []));
    if (content === '' && toolCalls.length === 0) return results;
    return [{ role, content, ...(toolCalls.length > 0 && { toolCalls }) }, ...results];
  });
}

function textOf(parts: readonly SentPart[]): string {
  return parts.map(wordsOf).join('');
}

function wordsOf(part: SentPart): string {
  switch (part.kind) {
    case 'text': return part.text;
    case 'data': return dataText(part.mimeType, part.bytes);
    case 'unknown': return `\n${typeof part.value === 'string' ? part.value : JSON.stringify(part.value) ?? ''}\n`;
    default: return '';
  }
}

const isText = (mimeType: string): boolean => /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|yaml)\b/.test(mimeType);

function dataText(mimeType: string, bytes: Uint8Array): string {
  // VS Code marks places for caches and the like with data whose type is a bare word. They are no part of what is said.
  if (!mimeType.includes('/')) return '';
  if (isText(mimeType)) return `\n${new TextDecoder().decode(bytes)}\n`;
  return `\n[${mimeType}: not shown, since workers are sent text alone]\n`;
}
