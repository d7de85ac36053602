import { packTexts } from '../../backend/protocol/known-texts.ts';
import type { PanelState, StateMessage } from '../../backend/protocol/panel-messages.ts';

/** Encodes states as messages for one page. Leaves out long texts that the page has from the previous message. */
export class StateSender {
  #number = 0;
  #texts: readonly string[] = [];

  message(state: PanelState): StateMessage {
    const basis = this.#texts.length === 0 ? undefined : this.#number;
    const { value, texts } = packTexts(state, this.#texts);
    this.#texts = texts;
    this.#number += 1;
    return { type: 'state', sentAt: Date.now(), number: this.#number, ...(basis !== undefined && { basis }), state: value };
  }

  /** The page is new or missed a message: the next message is complete. */
  startAnew(): void {
    this.#texts = [];
  }
}
