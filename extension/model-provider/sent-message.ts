import * as vscode from 'vscode';
import type { SentMessage, SentPart } from './spoken-messages.ts';

/** The role of a system message, which is not part of the stable interface. */
const SYSTEM_ROLE = 3;

/** Reads a message of VS Code. Its parts are told apart by their class, and those that this version of VS Code has no class for, by their fields. */
export function sentMessage({ role, content }: vscode.LanguageModelChatRequestMessage): SentMessage {
  return {
    role: role === vscode.LanguageModelChatMessageRole.Assistant ? 'assistant' : Number(role) === SYSTEM_ROLE ? 'system' : 'user',
    parts: content.map(sentPart),
  };
}

function sentPart(part: unknown): SentPart {
  if (part instanceof vscode.LanguageModelTextPart) return { kind: 'text', text: part.value };
  if (part instanceof vscode.LanguageModelToolCallPart) return { kind: 'call', id: part.callId, name: part.name, input: part.input };
  if (part instanceof vscode.LanguageModelToolResultPart) return { kind: 'result', id: part.callId, parts: part.content.map(sentPart) };
  if (part instanceof vscode.LanguageModelPromptTsxPart) return { kind: 'unknown', value: part.value };
  if (typeof part !== 'object' || part === null) return { kind: 'unknown', value: part };
  if ('mimeType' in part && typeof part.mimeType === 'string' && 'data' in part && part.data instanceof Uint8Array) {
    return { kind: 'data', mimeType: part.mimeType, bytes: part.data };
  }
  // A thinking part has the text, an id and what its provider signed.
  if ('value' in part && ('id' in part || 'metadata' in part)) return { kind: 'thinking' };
  return { kind: 'unknown', value: part };
}
