import type { PromptResponse, SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import * as z from 'zod';
import { redactText } from '../../../common/secrets/secrets.ts';
import type { Usage } from '../../../protocol/usage.ts';
import type { AgentAct, StreamOptions } from '../../model.ts';
import type { AnswerText } from '../answer-text.ts';

/** Of one act; more is clipped in the middle. */
const MAX_CHARACTERS = 4_000;
const MAX_TITLE = 500;
/** Later ones are done, but not reported. */
const MAX_ACTS = 300;
/** Calls that are open at the same time. */
const MAX_OPEN = 100;

interface OpenCall {
  readonly kind: string;
  readonly title: string;
  readonly command: string | undefined;
  readonly content: readonly ToolCallContent[];
}

/** Counts of a whole prompt, which some agents give with its end. */
const count = z.number().int().nonnegative();
const usageOfPrompt = z.object({
  inputTokens: count, outputTokens: count,
  cachedReadTokens: count.nullish(), cachedWriteTokens: count.nullish(), thoughtTokens: count.nullish(),
});

/** Gemini CLI's counts. The tokens of its thoughts are not among them. */
const quotaOfPrompt = z.object({
  _meta: z.object({ quota: z.object({ token_count: z.object({ input_tokens: count, output_tokens: count }) }) }),
}).transform(({ _meta: { quota: { token_count: { input_tokens: input, output_tokens: output } } } }) => ({ input, output }));

/** What an agent says and does in answer to one prompt, gathered from its updates. They are untrusted, and bounded here. */
export class AgentWork {
  readonly #answer: AnswerText;
  readonly #options: Pick<StreamOptions, 'onThinking' | 'onActivity' | 'onAct'>;
  readonly #open = new Map<string, OpenCall>();
  #folder = '';
  #acts = 0;
  /** Since the last act. */
  #message = '';
  #messageId: string | undefined;
  #lastMessage = '';
  #contextTokens = 0;
  #usd: number | undefined;

  constructor(answer: AnswerText, options: Pick<StreamOptions, 'onThinking' | 'onActivity' | 'onAct'>) {
    this.#answer = answer;
    this.#options = options;
  }

  /** @param folder in which the agent works, absolute. @throws WorkerError `too-large` */
  take(update: SessionUpdate, folder: string): void {
    this.#folder = folder;
    this.#options.onActivity();
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        if (update.content.type === 'text') this.#say(update.content.text, update.messageId ?? undefined);
        return;
      case 'agent_thought_chunk':
        if (update.content.type === 'text') this.#options.onThinking(update.content.text);
        return;
      case 'tool_call':
      case 'tool_call_update':
        this.#call(update);
        return;
      case 'usage_update':
        this.#contextTokens = Math.max(this.#contextTokens, Math.round(update.used));
        if (update.cost?.currency.toUpperCase() === 'USD' && update.cost.amount >= 0) this.#usd = update.cost.amount;
        return;
      default:
        return;
    }
  }

  /** The last message, or the last one before an act that was not followed by any. */
  get output(): string {
    return (this.#message.trim() === '' ? this.#lastMessage : this.#message).trim();
  }

  get usd(): number | undefined {
    return this.#usd;
  }

  /**
   * The tokens of all its calls. Where it does not say them, those that were set aside count, or its context if that is larger.
   * @param setAside tokens
   */
  usage(setAside: number, response?: PromptResponse): Usage {
    const told = usageOfPrompt.safeParse((response as { usage?: unknown } | undefined)?.usage);
    if (told.success) {
      const { inputTokens, outputTokens, cachedReadTokens, cachedWriteTokens, thoughtTokens } = told.data;
      return {
        uncachedInput: inputTokens, cacheRead: cachedReadTokens ?? 0, cacheWrite: cachedWriteTokens ?? 0, output: outputTokens,
        reasoning: thoughtTokens ?? 0, estimated: false,
      };
    }
    const quota = quotaOfPrompt.safeParse(response);
    if (quota.success && quota.data.input > 0) {
      return { uncachedInput: quota.data.input, cacheRead: 0, cacheWrite: 0, output: quota.data.output, reasoning: 0, estimated: true };
    }
    return { uncachedInput: Math.max(setAside, this.#contextTokens), cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0, estimated: true };
  }

  #say(text: string, id: string | undefined): void {
    const isNext = id !== undefined && this.#messageId !== undefined && id !== this.#messageId;
    if (isNext && this.#message.trim() !== '') this.#endMessage();
    this.#messageId = id ?? this.#messageId;
    this.#message += text;
    this.#answer.append(text);
  }

  /** With paths as the project has them. Some agents write them without the first slash. */
  #inFolder(text: string): string {
    return this.#folder === '' ? text : text.slice(0, 16 * MAX_CHARACTERS).replaceAll(`${this.#folder}/`, '').replaceAll(`${this.#folder.slice(1)}/`, '');
  }

  #endMessage(): void {
    if (this.#message.trim() !== '') {
      this.#lastMessage = this.#message;
      this.#answer.append('\n\n');
    }
    this.#message = '';
  }

  #call(update: Extract<SessionUpdate, { sessionUpdate: 'tool_call' | 'tool_call_update' }>): void {
    const { toolCallId: id, kind, title, content, rawInput, status } = update;
    const known = this.#open.get(id);
    if (!known && this.#open.size >= MAX_OPEN) return;
    const call: OpenCall = {
      kind: kind ?? known?.kind ?? 'other', title: title ?? known?.title ?? '', command: commandIn(rawInput) ?? known?.command,
      content: content ?? known?.content ?? [],
    };
    if (status !== 'completed' && status !== 'failed') {
      this.#open.set(id, call);
      return;
    }
    this.#open.delete(id);
    const text = clip(this.#message.trim(), MAX_CHARACTERS);
    this.#endMessage();
    this.#acts += 1;
    if (this.#acts > MAX_ACTS) return;
    const about = call.command !== undefined && !call.title.includes(call.command) ? `${call.title}: ${call.command}` : call.title;
    const result = call.content.map(contentText).filter((part) => part !== '').join('\n');
    const act: AgentAct = {
      text,
      call: { id: id.slice(0, MAX_TITLE) || `act-${this.#acts}`, name: call.kind, arguments: clip(this.#inFolder(about), MAX_TITLE) },
      result: clip(this.#inFolder(`${status === 'failed' ? 'It failed.\n' : ''}${result}`.trim()), MAX_CHARACTERS),
    };
    this.#options.onAct?.(act);
  }
}

function commandIn(rawInput: unknown): string | undefined {
  const { command } = (typeof rawInput === 'object' && rawInput !== null ? rawInput : {}) as { command?: unknown };
  if (Array.isArray(command)) return command.filter((part) => typeof part === 'string').join(' ');
  return typeof command === 'string' ? command : undefined;
}

function contentText(content: ToolCallContent): string {
  switch (content.type) {
    case 'content':
      return content.content.type === 'text' ? content.content.text : '';
    case 'diff':
      return diffText(content);
    default:
      return '';
  }
}

/** A whole file, or the part of it that is replaced: agents differ. */
function diffText({ path, oldText, newText }: { readonly path: string; readonly oldText?: string | null; readonly newText: string }): string {
  const marked = (sign: string, text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n').map((line) => sign + line));
  const [before, after] = [marked('-', (oldText ?? '').slice(0, 4 * MAX_CHARACTERS)), marked('+', newText.slice(0, 4 * MAX_CHARACTERS))];
  const isSame = (index: number, end: boolean): boolean => {
    const [a, b] = end ? [before.at(-1 - index), after.at(-1 - index)] : [before[index], after[index]];
    return a !== undefined && b !== undefined && a.slice(1) === b.slice(1);
  };
  let start = 0;
  while (isSame(start, false)) start += 1;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && isSame(end, true)) end += 1;
  return [path, ...before.slice(start, before.length - end), ...after.slice(start, after.length - end)].join('\n');
}

/** Without lines that look like a secret. Keeps the beginning and the end: both tell more than the middle. */
function clip(text: string, most: number): string {
  const clean = redactText(text.slice(0, 8 * most).replaceAll('\0', '�'));
  if (clean.length <= most) return clean;
  return `${clean.slice(0, Math.ceil(most / 2))}\n[…]\n${clean.slice(-Math.floor(most / 2))}`;
}
