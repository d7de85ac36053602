import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { WorkerError } from '../errors.ts';

/** The longest accepted answer: 1 MiB of UTF-8. Useful answers are much shorter; this stops runaway workers. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** Collects a streamed answer up to a maximum size. */
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
    if (typeof piece !== 'string' || piece === '') return;
    this.#bytes += Buffer.byteLength(piece);
    if (this.#bytes > MAX_ANSWER_BYTES) throw answerTooLarge(this.#worker);
    this.#pieces.push(piece);
    this.#onText(piece);
  }

  get bytes(): number {
    return this.#bytes;
  }

  toString(): string {
    return this.#pieces.join('');
  }
}

export function answerTooLarge(worker: WorkerConfig): WorkerError {
  return new WorkerError({
    kind: 'too-large',
    message: `Worker "${worker.id}" answered more than 1 MiB and was stopped; ask for less in one step.`,
  });
}
