import type {
  Base64ImageSource, ContentBlockParam, ImageBlockParam, MessageParam, TextBlockParam, Tool as MessagesTool, ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages/messages';
import type { Message, ModelRequest, SentPicture, ToolResult } from '../model.ts';
import { sentCall } from './sent-call.ts';
import { verbatimItems } from './verbatim.ts';

/** The API accepts no more marks for its cache in a request. */
const MAX_MARKS = 4;

export type MessagesInput = Pick<ModelRequest, 'messages' | 'tools'>;

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlockParam[];
}

/**
 * The parts of a Messages request that hold the prompt. A turn that `by` wrote is given back as it was.
 *
 * The cache is told where to end: after the system prompt, or the tools if there is none; after what other calls share; and, if there are
 * tools, after the last two turns of the user, so that each request of a conversation reads what the one before it wrote.
 */
export function messagesPrompt({ messages, tools = [] }: MessagesInput, by: string) {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n\n');
  const turns: Turn[] = [];
  const shared: TextBlockParam[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const last = turns.at(-1);
    // All results of a turn, and what is said after them, are one turn, with the results first.
    const continues = last !== undefined && (message.role === 'tool' ? isResults(last) : message.role === 'user' && isResults(last));
    const content = message.role === 'tool' ? [result(message)] : said(message, by, shared);
    // An answer with nothing in it, which programs keep in their conversation.
    if (content.length === 0) continue;
    if (continues) last.content.push(...content);
    else turns.push({ role: message.role === 'assistant' ? 'assistant' : 'user', content });
  }
  // Since its models of 4.6, Anthropic refuses a request that ends so (https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6#prefill-removal).
  if (turns.at(-1)?.role === 'assistant') turns.push({ role: 'user', content: [textBlock('Go on.')] });
  const ends = tools.length === 0 ? [] : turns.filter(({ role }) => role === 'user').slice(-2).flatMap(({ content }) => content.slice(-1));
  const first = system !== '' || tools.length > 0 ? 1 : 0;
  for (const block of new Set([...shared.slice(0, MAX_MARKS - first - ends.length), ...ends])) Object.assign(block, MARK);
  return {
    ...(system !== '' && { system: [{ type: 'text', text: system, ...MARK } satisfies TextBlockParam] }),
    ...(tools.length > 0 && { tools: tools.map((tool, index) => toolOf(tool, system === '' && index === tools.length - 1)) }),
    messages: turns.map(({ role, content }): MessageParam => ({ role, content: plainly(content) })),
  };
}

/**
 * At the end of a marked block the provider caches the prompt for five minutes. Reading costs at most a tenth of the input price, writing
 * 1.25 times (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). Prompts that are too short are not cached and cost no
 * more.
 */
const MARK = { cache_control: { type: 'ephemeral' } } as const;

function isResults({ role, content }: Turn): boolean {
  return role === 'user' && content[0]?.type === 'tool_result';
}

function result({ callId, content, isError = false, pictures = [] }: ToolResult): ToolResultBlockParam {
  const text = content === '' ? [] : [textBlock(content)];
  const given = pictures.length > 0 ? [...pictures.map(pictureBlock), ...text] : content;
  return { type: 'tool_result', tool_use_id: callId, ...(given !== '' && { content: given }), ...(isError && { is_error: true }) };
}

/** Adds the block that other calls share to `shared`. */
function said(message: Message, by: string, shared: TextBlockParam[]): ContentBlockParam[] {
  const { content, sharedPrefix = 0, toolCalls = [], pictures = [] } = message;
  if (toolCalls.length > 0) {
    const calls = toolCalls.map(sentCall).map((call): ContentBlockParam => ({ type: 'tool_use', ...call }));
    return [...(verbatimItems<ContentBlockParam>(message, by) ?? [...textBlocks(content), ...calls])];
  }
  const [start, rest] = [content.slice(0, sharedPrefix), content.slice(sharedPrefix)];
  const shown = message.role === 'user' ? pictures.map(pictureBlock) : [];
  if (start === '') return [...shown, ...textBlocks(content)];
  const block = textBlock(start);
  shared.push(block);
  return [...shown, block, ...textBlocks(rest)];
}

/** The API names each media type; `takenPictures` lets no other through. */
function pictureBlock({ type, data }: SentPicture): ImageBlockParam {
  return { type: 'image', source: { type: 'base64', media_type: type as Base64ImageSource['media_type'], data } };
}

/** The API refuses blank text. */
function textBlocks(text: string): TextBlockParam[] {
  return text.trim() === '' ? [] : [textBlock(text)];
}

function textBlock(text: string): TextBlockParam {
  return { type: 'text', text };
}

/** A single text without a mark may be sent as such. Compatible servers support it best. */
function plainly(content: ContentBlockParam[]): MessageParam['content'] {
  const [only] = content;
  return content.length === 1 && only?.type === 'text' && only.cache_control === undefined ? only.text : content;
}

function toolOf({ name, description, parameters }: NonNullable<MessagesInput['tools']>[number], isMarked: boolean): MessagesTool {
  return { name, description, input_schema: { ...parameters, type: 'object' }, ...(isMarked && MARK) };
}
