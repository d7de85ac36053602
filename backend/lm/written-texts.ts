import type { TextStream } from './tokenizer/text-stream.ts';

export interface SampleTextsOptions {
  readonly samples: number;
  readonly prefill: string;
  /** They end a text and are no part of it, special or not. */
  readonly stopTokenIds: readonly number[];
  readonly open: () => TextStream;
  readonly onText?: ((sample: number, text: string) => void) | undefined;
}

/** The texts of some samples while their tokens arrive. The pieces `onText` is given, joined, are a sample's text with its prefill. */
export class SampleTexts {
  readonly #streams: readonly TextStream[];
  readonly #texts: string[];
  readonly #stops: ReadonlySet<number>;
  readonly #onText: SampleTextsOptions['onText'];
  /** The part of a sample's text that was not reported yet. */
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

  /** The whole text; no more tokens come. */
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
