import type { TextStream } from './tokenizer/text-stream.ts';

export interface SampleTextsOptions {
  readonly samples: number;
  readonly prefill: string;
  /** These tokens end a text and are not part of it, even if they are not special. */
  readonly stopTokenIds: readonly number[];
  readonly open: () => TextStream;
  readonly onText?: ((sample: number, text: string) => void) | undefined;
}

/** Decodes the texts of several samples incrementally. The joined pieces of `onText` are a sample's text including its prefill. */
export class SampleTexts {
  readonly #streams: readonly TextStream[];
  readonly #texts: string[];
  readonly #stops: ReadonlySet<number>;
  readonly #onText: SampleTextsOptions['onText'];
  /** The text of each sample that is not reported yet. */
  readonly #untold: string[];

  constructor({ samples, prefill, stopTokenIds, open, onText }: SampleTextsOptions) {
    this.#streams = Array.from({ length: samples }, open);
    this.#texts = this.#streams.map(() => prefill);
    this.#untold = [...this.#texts];
    this.#stops = new Set(stopTokenIds);
    this.#onText = onText;
  }

  add(sample: number, tokens: readonly number[]): void {
    const last = tokens.at(-1);
    const shown = last !== undefined && this.#stops.has(last) ? tokens.slice(0, -1) : tokens;
    this.#append(sample, this.#streams[sample]?.push(shown) ?? '');
  }

  /** Returns the whole text. Call it after the last token. */
  finish(sample: number): string {
    this.#append(sample, this.#streams[sample]?.end() ?? '');
    return this.#texts[sample] ?? '';
  }

  #append(sample: number, text: string): void {
    this.#texts[sample] += text;
    const piece = this.#untold[sample] + text;
    this.#untold[sample] = '';
    if (piece !== '') this.#onText?.(sample, piece);
  }
}
