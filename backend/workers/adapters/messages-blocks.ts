import type {
  ContentBlockParam, RawContentBlockDeltaEvent, RawContentBlockStartEvent,
} from '@anthropic-ai/sdk/resources/messages/messages';
import type { VerbatimTurn } from '../../protocol/tool-calls.ts';
import { textOf } from './answer-text.ts';
import { sentCall } from './sent-call.ts';
import type { StreamedCall, StreamedCalls } from './streamed-calls.ts';
import { MAX_VERBATIM_CHARACTERS, verbatimTurn } from './verbatim.ts';

/** A block of a turn. Pieces are joined at the end. */
interface Block {
  readonly type: 'text' | 'thinking' | 'redacted_thinking' | 'tool_use';
  readonly pieces: string[];
  /** Of a `thinking` block, or the data of a `redacted_thinking` one. */
  opaque: string;
}

/** Collects the blocks of a streamed turn: its tool calls, and its thinking, which goes back with their results. */
export class MessagesBlocks {
  readonly #calls: StreamedCalls;
  readonly #blocks = new Map<number, Block>();
  /** Inputs that were there when their block began. By the format they are empty and follow in pieces. */
  readonly #inputs = new Map<number, object>();
  #characters = 0;

  constructor(calls: StreamedCalls) {
    this.#calls = calls;
  }

  /** @throws WorkerError `too-large` */
  start({ index, content_block: block }: RawContentBlockStartEvent): void {
    switch (block.type) {
      case 'text':
      case 'thinking':
        this.#blocks.set(index, { type: block.type, pieces: [], opaque: '' });
        this.#take(index, block.type === 'text' ? block.text : block.thinking);
        break;
      case 'redacted_thinking':
        this.#blocks.set(index, { type: block.type, pieces: [], opaque: textOf(block.data) });
        this.#characters += textOf(block.data).length;
        break;
      case 'tool_use':
        this.#blocks.set(index, { type: block.type, pieces: [], opaque: '' });
        this.#calls.append({ index, id: block.id, name: block.name });
        if (typeof block.input === 'object' && block.input !== null && Object.keys(block.input).length > 0) this.#inputs.set(index, block.input);
        break;
      default:
    }
  }

  /** @throws WorkerError `too-large` */
  delta({ index, delta }: RawContentBlockDeltaEvent): void {
    const block = this.#blocks.get(index);
    if (delta.type === 'input_json_delta') this.#calls.append({ index, arguments: delta.partial_json });
    else if (delta.type === 'text_delta') this.#take(index, delta.text);
    else if (delta.type === 'thinking_delta') this.#take(index, delta.thinking);
    else if (delta.type === 'signature_delta' && block) block.opaque = textOf(delta.signature);
  }

  /** To be called before the calls are taken. */
  end(): void {
    for (const [index, input] of this.#inputs) if (!this.#calls.hasArguments(index)) this.#calls.append({ index, arguments: input });
  }

  /** The turn as `by` wants it back; `undefined` if it did not think or calls no tool. */
  verbatim(by: string, calls: readonly StreamedCall[]): VerbatimTurn | undefined {
    const blocks = [...this.#blocks].sort(([a], [b]) => a - b);
    const isPlain = blocks.every(([, { type }]) => type === 'text' || type === 'tool_use');
    if (isPlain || calls.length === 0 || this.#characters > MAX_VERBATIM_CHARACTERS) return undefined;
    const items = blocks.flatMap(([index, block]) => blockParam(block, calls.find((call) => call.index === index)));
    return verbatimTurn(by, items as unknown as VerbatimTurn['items']);
  }

  #take(index: number, piece: unknown): void {
    const text = textOf(piece);
    this.#characters += text.length;
    if (this.#characters <= MAX_VERBATIM_CHARACTERS) this.#blocks.get(index)?.pieces.push(text);
  }
}

function blockParam({ type, pieces, opaque }: Block, call: StreamedCall | undefined): ContentBlockParam[] {
  const text = pieces.join('');
  switch (type) {
    case 'text':
      return text.trim() === '' ? [] : [{ type, text }];
    case 'thinking':
      return [{ type, thinking: text, signature: opaque }];
    case 'redacted_thinking':
      return [{ type, data: opaque }];
    case 'tool_use':
      return call ? [{ type, ...sentCall(call) }] : [];
  }
}
