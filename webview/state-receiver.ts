import { unpackTexts } from '../backend/protocol/known-texts.ts';
import type { PanelState, StateMessage } from '../backend/protocol/panel-messages.ts';
import { share } from './share.ts';

/** Decodes messages into states. */
export class StateReceiver {
  #number: number | undefined;
  #texts: readonly string[] = [];
  #state: PanelState | undefined;

  /** The last state received. */
  get state(): PanelState | undefined {
    return this.#state;
  }

  /** @returns false if a message before this one was missed: the page then requests a complete state */
  take({ number, basis, state }: StateMessage): boolean {
    if (basis !== undefined && basis !== this.#number) return false;
    const { value, texts } = unpackTexts(state, basis === undefined ? [] : this.#texts);
    this.#number = number;
    this.#texts = texts;
    this.#state = share(this.#state, value as PanelState);
    return true;
  }
}
