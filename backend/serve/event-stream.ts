import type { ServerResponse } from 'node:http';
import type { AnswerForm, ServerEvent } from './wire.ts';

/** A stream that has nothing to say for so long says that it is there. */
const KEEP_ALIVE_MS = 10_000;

/** Server-sent events of one answer. The status is written with the first of them, so that an error before it is an error of the request. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #form: AnswerForm;
  readonly #timer: NodeJS.Timeout;
  #isOpen = false;

  constructor(response: ServerResponse, form: AnswerForm, { keepAliveMs = KEEP_ALIVE_MS }: { readonly keepAliveMs?: number | undefined } = {}) {
    this.#response = response;
    this.#form = form;
    this.#timer = setInterval(() => this.#keepAlive(), keepAliveMs);
  }

  /** @param events asked for after those of the opening, because some forms number them */
  write(events: () => readonly ServerEvent[]): void {
    const opening = this.#isOpen ? [] : this.#form.opening();
    this.#isOpen = true;
    this.#timer.refresh();
    this.#send([...opening, ...events()].map(textOf).join(''));
  }

  end(): void {
    this.stop();
    this.#response.end();
  }

  /** Says nothing by itself any more. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #keepAlive(): void {
    const { keepAlive } = this.#form;
    if (keepAlive) this.write(keepAlive);
    else this.#send(': at work\n\n');
  }

  #send(text: string): void {
    if (this.#response.writableEnded) return;
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
    this.#response.write(text);
    // Node would send it when all that is known now is worked off, and the journal waits for the disk in that.
    this.#response.socket?.uncork();
  }
}

function textOf({ event, data }: ServerEvent): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}
