import type {
  FunctionTool, ResponseInputImage, ResponseInputItem, ResponseInputText, ResponseOutputItem, ResponseReasoningItem,
} from 'openai/resources/responses/responses';
import type { ToolCall, VerbatimTurn } from '../../protocol/tool-calls.ts';
import type { ConversationMessage, SentPicture, Tool, ToolResult } from '../model.ts';
import { resultText } from './result-text.ts';
import { sentCallText } from './sent-call.ts';
import type { StreamedCall } from './streamed-calls.ts';
import { verbatimItems, verbatimTurn } from './verbatim.ts';

/** A message as input of the Responses API. A turn that the worker `by` wrote is sent back unchanged. */
export function responsesInput(message: ConversationMessage, by: string): readonly ResponseInputItem[] {
  if (message.role === 'tool') return [{ type: 'function_call_output', call_id: message.callId, output: outputOf(message) }];
  const { role, content, toolCalls = [], pictures = [] } = message;
  if (role === 'user' && pictures.length > 0) return [{ role, content: [...pictures.map(picturePart), { type: 'input_text', text: content }] }];
  if (role !== 'assistant' || toolCalls.length === 0) return [{ role, content }];
  const spoken: ResponseInputItem[] = content === '' ? [] : [{ role, content }];
  return verbatimItems<ResponseInputItem>(message, by) ?? [...spoken, ...toolCalls.map(functionCall)];
}

function outputOf(result: ToolResult): string | (ResponseInputImage | ResponseInputText)[] {
  const { pictures = [] } = result;
  const text = resultText(result);
  if (pictures.length === 0) return text;
  return [...pictures.map(picturePart), ...(text === '' ? [] : [{ type: 'input_text' as const, text }])];
}

function picturePart({ type, data }: SentPicture): ResponseInputImage {
  return { type: 'input_image', image_url: `data:${type};base64,${data}`, detail: 'auto' };
}

/** By default, the API enforces schemas strictly, and changes them to be able to. */
export function responsesTool({ name, description, parameters, isStrict = false }: Tool): FunctionTool {
  return { type: 'function', name, description, parameters: { ...parameters }, strict: isStrict };
}

/**
 * A turn with its encrypted reasoning and the phases of its messages, in order; `undefined` if it has none or calls no tool. The provider
 * stores nothing, so that it has to be given all of it again.
 * @param output the finished items by their index
 */
export function responsesVerbatim(
  by: string, output: ReadonlyMap<number, ResponseOutputItem>, calls: readonly StreamedCall[],
): VerbatimTurn | undefined {
  const items = [...output].sort(([a], [b]) => a - b).flatMap(([index, item]): ResponseInputItem[] => {
    if (item.type === 'reasoning') return isKept(item) ? [reasoning(item)] : [];
    if (item.type === 'message') return [{ role: 'assistant', content: textOf(item), ...(item.phase && { phase: item.phase }) }];
    const call = calls.find((streamed) => streamed.index === index);
    return call ? [functionCall(call)] : [];
  });
  const isPlain = items.every((item) => item.type !== 'reasoning' && !('phase' in item));
  const isWhole = items.filter(({ type }) => type === 'function_call').length === calls.length;
  if (isPlain || !isWhole || calls.length === 0) return undefined;
  return verbatimTurn(by, items as unknown as VerbatimTurn['items']);
}

function functionCall(call: ToolCall): ResponseInputItem {
  const { id, name, arguments: written } = sentCallText(call);
  return { type: 'function_call', call_id: id, name, arguments: written };
}

function isKept({ encrypted_content }: ResponseReasoningItem): boolean {
  return typeof encrypted_content === 'string' && encrypted_content !== '';
}

function reasoning({ id, summary, encrypted_content }: ResponseReasoningItem): ResponseInputItem {
  return { type: 'reasoning', id, summary: Array.isArray(summary) ? summary : [], encrypted_content };
}

function textOf({ content }: Extract<ResponseOutputItem, { type: 'message' }>): string {
  return content.map((part) => (part.type === 'output_text' ? part.text : part.refusal)).join('');
}
