import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { WorkerError } from '../errors.ts';

/** The longest accepted answer: 1 MiB of UTF-8. Useful answers are much shorter; this stops runaway workers. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** Collects a streamed answer up to a maximum size. Its tool calls count, too. */
export class AnswerText {
  readonly #worker: WorkerConfig;
  readonly #onText: (text: string) => void;
  readonly #pieces: string[] = [];
  #bytes = 0;

  constructor(worker: WorkerConfig, onText: (text: string) => void) {
    this.#worker = worker;
    this.#onText = onText;
  }

  /** @throws WorkerError `too-large`; the piece that exceeds the limit is not passed on */
  append(piece: unknown): void {
    const text = textOf(piece);
    if (text === '') return;
    this.count(text);
    this.#pieces.push(text);
    this.#onText(text);
  }

  /** Counts what is not text. @throws WorkerError `too-large` */
  count(piece: string): void {
    this.#bytes += Buffer.byteLength(piece);
    if (this.#bytes > MAX_ANSWER_BYTES) throw answerTooLarge(this.#worker);
  }

  get bytes(): number {
    return this.#bytes;
  }

  toString(): string {
    return this.#pieces.join('');
  }
}

/** The text that a server sent; '' if the value is not a string. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function answerTooLarge(worker: WorkerConfig): WorkerError {
  return new WorkerError({
    kind: 'too-large',
    message: `Worker "${worker.id}" answered more than 1 MiB and was stopped; ask for less in one step.`,
  });
}
