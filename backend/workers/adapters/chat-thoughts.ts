import { MAX_VERBATIM_CHARACTERS } from './verbatim.ts';

/** The fields of a message in which servers send reasoning and, if tools are used, want it back. */
export type ChatThoughtFields = Partial<Record<'reasoning_content' | 'reasoning' | 'reasoning_details', unknown>>;

type Detail = Record<string, unknown>;

/** Collects the reasoning of a turn: `reasoning_content` (DeepSeek, vLLM), `reasoning` (Ollama), `reasoning_details` (OpenRouter). */
export class ChatThoughts {
  readonly #pieces: string[] = [];
  readonly #details: Detail[] = [];
  #field: 'reasoning_content' | 'reasoning' | undefined;
  #characters = 0;

  /** @returns the reasoning in a piece of a message */
  take(delta: unknown): string {
    if (typeof delta !== 'object' || delta === null) return '';
    const details: unknown = Reflect.get(delta, 'reasoning_details');
    for (const detail of Array.isArray(details) ? (details as unknown[]) : []) {
      if (typeof detail === 'object' && detail !== null) this.#takeDetail(detail as Detail);
    }
    for (const field of ['reasoning_content', 'reasoning'] as const) {
      const thought: unknown = Reflect.get(delta, field);
      if (typeof thought !== 'string' || thought === '') continue;
      this.#field ??= field;
      this.#characters += thought.length;
      if (!this.#isTooLong) this.#pieces.push(thought);
      return thought;
    }
    return '';
  }

  /** What the server gets back with the turn; `undefined` if there was no reasoning. */
  fields(): ChatThoughtFields | undefined {
    if (this.#isTooLong) return undefined;
    if (this.#details.length > 0) return { reasoning_details: this.#details };
    return this.#field && { [this.#field]: this.#pieces.join('') };
  }

  get #isTooLong(): boolean {
    return this.#characters > MAX_VERBATIM_CHARACTERS;
  }

  /** Pieces of one text have the same type and index. */
  #takeDetail(detail: Detail): void {
    this.#characters += JSON.stringify(detail).length;
    if (this.#isTooLong) return;
    const last = this.#details.at(-1);
    const continues = last !== undefined && last['type'] === detail['type'] && last['index'] === detail['index'];
    if (!continues || detail['type'] === 'reasoning.encrypted') return void this.#details.push({ ...detail });
    for (const [name, value] of Object.entries(detail)) {
      const isText = (name === 'text' || name === 'summary') && typeof value === 'string' && typeof last[name] === 'string';
      if (isText) last[name] = `${last[name] as string}${value}`;
      else if (value !== null) last[name] = value;
    }
  }
}
