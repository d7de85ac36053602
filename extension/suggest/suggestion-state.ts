import type { SuggestResult } from '../../backend/protocol/suggestions.ts';
import { Signal } from '../common/signal.ts';

export type SuggestionActivity =
  | { readonly kind: 'off' }
  | { readonly kind: 'restricted' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'problem'; readonly message: string };

/** A cancelled request says nothing about the worker's health. A failed one has a reason, as a sentence. */
export type RequestEnd = 'answered' | 'cancelled' | { readonly problem: string };

/** The state of suggestions, for the status bar. No other place reports it. */
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

  /** The backend's last answer. */
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

  /** Records the start of a request. @returns the function to call when it has ended */
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
