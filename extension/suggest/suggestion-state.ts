import type { SuggestResult } from '../../backend/protocol/suggestions.ts';
import { Signal } from '../common/signal.ts';

export type SuggestionActivity =
  | { readonly kind: 'off' }
  | { readonly kind: 'restricted' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'problem'; readonly message: string };

/** A request that was cancelled says nothing about whether things work; one that failed says why, in a sentence. */
export type RequestEnd = 'answered' | 'cancelled' | { readonly problem: string };

/** How suggestions fare: all that the status bar tells, because nothing else ever does. */
export class SuggestionState {
  readonly changed = new Signal<void>();
  #isOn = false;
  #isTrusted = true;
  #asking = 0;
  #problem: string | undefined;
  #last: SuggestResult | undefined;

  get activity(): SuggestionActivity {
    if (!this.#isTrusted) return { kind: 'restricted' };
    if (!this.#isOn) return { kind: 'off' };
    if (this.#asking > 0) return { kind: 'asking' };
    return this.#problem === undefined ? { kind: 'ready' } : { kind: 'problem', message: this.#problem };
  }

  /** The last answer of the backend. */
  get last(): SuggestResult | undefined {
    return this.#last;
  }

  switched({ isOn, isTrusted }: { readonly isOn: boolean; readonly isTrusted: boolean }): void {
    this.#isOn = isOn;
    this.#isTrusted = isTrusted;
    this.#problem = undefined;
    this.changed.emit();
  }

  answered(result: SuggestResult): void {
    this.#last = result;
  }

  /** A request is made. @returns what is to be called once it has ended */
  begin(): (end: RequestEnd) => void {
    this.#asking += 1;
    this.changed.emit();
    return (end) => {
      this.#asking -= 1;
      if (end !== 'cancelled') this.#problem = end === 'answered' ? undefined : end.problem;
      this.changed.emit();
    };
  }
}
