import type { ChatCompletionContentPart, ChatCompletionFunctionTool, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ToolCall, VerbatimTurn } from '../../protocol/tool-calls.ts';
import type { ConversationMessage, SentPicture, Tool } from '../model.ts';
import type { ChatThoughtFields } from './chat-thoughts.ts';
import { resultText } from './result-text.ts';
import { sentCallText } from './sent-call.ts';
import type { StreamedCall } from './streamed-calls.ts';
import { verbatimItems, verbatimTurn } from './verbatim.ts';

/** Messages in the format of Chat Completions. A turn that `by` wrote is given back as it was. */
export function chatMessages(messages: readonly ConversationMessage[], by: string | undefined): ChatCompletionMessageParam[] {
  return messages.flatMap((message, index) => {
    const sent = chatMessage(message, by);
    return message.role === 'tool' && messages[index + 1]?.role !== 'tool' ? [sent, ...picturesOfResults(messages, index)] : [sent];
  });
}

/** Results take text alone in this format, and nothing may stand between them. So what they show is said by the user after the last one. */
function picturesOfResults(messages: readonly ConversationMessage[], last: number): ChatCompletionMessageParam[] {
  const first = messages.slice(0, last).findLastIndex(({ role }) => role !== 'tool') + 1;
  const parts = messages.slice(first, last + 1).flatMap((message): ChatCompletionContentPart[] => {
    if (message.role !== 'tool' || !message.pictures?.length) return [];
    return [{ type: 'text', text: `What the call ${message.callId} returned as a picture:` }, ...message.pictures.map(picturePart)];
  });
  return parts.length > 0 ? [{ role: 'user', content: parts }] : [];
}

function chatMessage(message: ConversationMessage, by: string | undefined): ChatCompletionMessageParam {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: resultText(message) };
  const { role, content, toolCalls = [], pictures = [] } = message;
  if (role === 'user' && pictures.length > 0) return { role, content: [...pictures.map(picturePart), { type: 'text', text: content }] };
  if (role !== 'assistant' || toolCalls.length === 0) return { role, content };
  return verbatimItems<ChatCompletionMessageParam>(message, by)?.[0] ?? assistantTurn(content, toolCalls);
}

function picturePart({ type, data }: SentPicture): ChatCompletionContentPart {
  return { type: 'image_url', image_url: { url: `data:${type};base64,${data}` } };
}

export function chatTool({ name, description, parameters }: Tool): ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters } };
}

/** A turn with its reasoning and thought signatures; `undefined` if it has none or calls no tool. */
export function chatVerbatim(
  by: string, content: string, calls: readonly StreamedCall[], thoughts: ChatThoughtFields | undefined,
): VerbatimTurn | undefined {
  const isPlain = thoughts === undefined && calls.every(({ extra }) => extra === undefined);
  return isPlain || calls.length === 0 ? undefined : verbatimTurn(by, [{ ...assistantTurn(content, calls), ...thoughts }]);
}

function assistantTurn(content: string, calls: readonly (ToolCall & Partial<StreamedCall>)[]): ChatCompletionMessageParam {
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    tool_calls: calls.map((call) => {
      const { id, name, arguments: written } = sentCallText(call);
      // Gemini's thought signature, without which it refuses to go on.
      return { id, type: 'function', function: { name, arguments: written }, ...(call.extra !== undefined && { extra_content: call.extra }) };
    }),
  };
}
