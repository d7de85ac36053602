import { randomInt } from 'node:crypto';
import type { ToolCall } from '../../protocol/tool-calls.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { WorkerError } from '../errors.ts';
import type { ConversationMessage } from '../model.ts';
import { textOf, type AnswerText } from './answer-text.ts';
import { JsonEnd } from './json-end.ts';

/** More calls than any useful turn has. The size of their arguments is that of the answer. */
export const MAX_CALLS = 256;

/** A piece of a tool call in a stream. Servers are not trusted: any field may be missing or of another type. */
export interface CallPiece {
  /** The place of the call in the turn. */
  readonly index?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  /** A piece of JSON, or, against the formats, an object. */
  readonly arguments?: unknown;
  /** What the server wants back with the call. */
  readonly extra?: unknown;
}

export interface StreamedCall extends ToolCall {
  readonly index: number | undefined;
  readonly extra: unknown;
}

export interface StreamedCallsOptions {
  readonly worker: WorkerConfig;
  readonly answer: AnswerText;
  readonly onPiece: (text: string) => void;
}

interface Entry {
  readonly index: number | undefined;
  id: string;
  name: string;
  readonly pieces: string[];
  readonly end: JsonEnd;
  extra: unknown;
}

/**
 * Joins the tool calls of a turn. By the formats a call has one index, and its first piece alone has its id and name. Some servers leave
 * the index out or give every call the same one, give no ids, the same id twice or another id with each piece, or repeat the name.
 */
export class StreamedCalls {
  readonly #options: StreamedCallsOptions;
  readonly #entries: Entry[] = [];

  constructor(options: StreamedCallsOptions) {
    this.#options = options;
  }

  /** @throws WorkerError `too-large` */
  append(piece: CallPiece): void {
    const index = typeof piece.index === 'number' ? piece.index : undefined;
    const [id, name] = [textOf(piece.id), textOf(piece.name)];
    const written = jsonOf(piece.arguments);
    const said = name + written;
    this.#options.answer.count(id + said);
    const entry = this.#entryFor({ index, id, name, written }) ?? this.#begin(index);
    entry.id ||= id;
    if (entry.name === '') entry.name = name;
    else if (entry.name !== name && entry.pieces.length === 0) entry.name += name;
    if (written !== '') {
      entry.pieces.push(written);
      entry.end.read(written);
    }
    entry.extra = piece.extra ?? entry.extra;
    this.#options.onPiece(said);
  }

  /** Whether a call with this index has arguments. */
  hasArguments(index: number): boolean {
    return this.#entries.some((entry) => entry.index === index && entry.pieces.length > 0);
  }

  /** The calls in the order in which they began. Ids that are missing or already in the conversation are replaced. */
  calls(messages: readonly ConversationMessage[]): StreamedCall[] {
    const used = new Set(messages.flatMap((message) => (message.role === 'tool' ? [] : message.toolCalls ?? [])).map(({ id }) => id));
    const begun = this.#entries.filter(({ name, pieces }) => name !== '' || pieces.length > 0);
    return begun.map(({ index, id: given, name, pieces, extra }) => {
      const id = ACCEPTED_ID.test(given) && !used.has(given) ? given : newId();
      used.add(id);
      return { id, name, arguments: pieces.join('') || '{}', index, extra };
    });
  }

  #entryFor({ index, id, name, written }: { index: number | undefined; id: string; name: string; written: string }): Entry | undefined {
    const known =
      index !== undefined ? this.#entries.findLast((entry) => entry.index === index)
      : id !== '' ? this.#entries.findLast((entry) => entry.id === id)
      : name === '' ? this.#entries.at(-1)
      : undefined;
    // Only another name, or the name again, begins another call at the same index.
    if (known === undefined || name === '' || known.name === '') return known;
    const sameId = id !== '' && known.id === id;
    if (id !== '' && known.id !== '' && !sameId) return undefined;
    if (known.end.closed && (!sameId || written !== '')) return undefined;
    return known.pieces.length > 0 && known.name !== name ? undefined : known;
  }

  #begin(index: number | undefined): Entry {
    if (this.#entries.length === MAX_CALLS) throw tooManyCalls(this.#options.worker);
    const entry = { index, id: '', name: '', pieces: [], end: new JsonEnd(), extra: undefined };
    this.#entries.push(entry);
    return entry;
  }
}

/** The calls without what only their server understands; `undefined` if there are none. */
export function plainCalls(calls: readonly StreamedCall[]): ToolCall[] | undefined {
  return calls.length === 0 ? undefined : calls.map(({ id, name, arguments: written }) => ({ id, name, arguments: written }));
}

/** What all servers accept. */
const ACCEPTED_ID = /^[\w.:-]{1,64}$/;

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Nine letters and digits: Mistral accepts no other ids. */
function newId(): string {
  return Array.from({ length: 9 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

function jsonOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : textOf(value);
}

function tooManyCalls({ id }: WorkerConfig): WorkerError {
  return new WorkerError({
    kind: 'too-large',
    message: `Worker "${id}" asked for more than ${MAX_CALLS} tools in one turn and was stopped; ask for less in one step.`,
  });
}
