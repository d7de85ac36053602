import * as z from 'zod';
import type { WorkerConfig } from '../../../protocol/worker-config.ts';
import { AnswerText } from '../answer-text.ts';
import { workerError } from '../classify-error.ts';
import { finishReasonOf } from '../finish-reason.ts';
import type { FinishReason } from '../../model.ts';

const tokenId = z.number().int().nonnegative();

/** A chunk of a streamed completion. What a server adds to it is left alone; what it leaves out or garbles is absent. */
export const completionChunkSchema = z.object({
  model: z.string().optional().catch(undefined),
  usage: z.unknown().optional(),
  choices: z.array(z.object({
    index: z.number().int().nonnegative().catch(0),
    text: z.string().nullish().catch(undefined),
    finish_reason: z.string().nullish().catch(undefined),
    token_ids: z.array(tokenId).nullish().catch(undefined),
    logprobs: z.object({ token_logprobs: z.array(z.number()) }).nullish().catch(undefined),
  })).catch([]),
});
export type CompletionChoice = z.output<typeof completionChunkSchema>['choices'][number];

/** A text as it came. Token ids and log-probabilities are absent unless there is one of each for each token. */
export interface CompletionText {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly tokenIds?: readonly number[] | undefined;
  readonly logprobs?: readonly number[] | undefined;
}

class Growing {
  readonly answer: AnswerText;
  readonly tokenIds: number[] = [];
  readonly logprobs: number[] = [];
  finishReason: FinishReason | undefined;

  constructor(answer: AnswerText) {
    this.answer = answer;
  }
}

export interface TextListeners {
  readonly onText: (text: string) => void;
  /** Pieces of the texts after the first. */
  readonly onOther: (text: string) => void;
}

/** Collects the texts of a streamed completion, each up to the size of an answer. */
export class CompletionTexts {
  readonly #worker: WorkerConfig;
  readonly #texts: readonly Growing[];

  /** @param count how many were asked for; pieces of others are ignored */
  constructor(worker: WorkerConfig, count: number, { onText, onOther }: TextListeners) {
    this.#worker = worker;
    this.#texts = Array.from({ length: count }, (_, index) => new Growing(new AnswerText(worker, index === 0 ? onText : onOther)));
  }

  /** @throws WorkerError `too-large` */
  add({ index, text, finish_reason: reason, token_ids: ids, logprobs }: CompletionChoice): void {
    const growing = this.#texts[index];
    if (!growing) return;
    growing.answer.append(text);
    growing.tokenIds.push(...(ids ?? []));
    growing.logprobs.push(...(logprobs?.token_logprobs ?? []));
    growing.finishReason = finishReasonOf(reason) ?? growing.finishReason;
  }

  /** Bytes of UTF-8 of all texts. */
  get bytes(): number {
    return this.#texts.reduce((sum, { answer }) => sum + answer.bytes, 0);
  }

  /** Whether the first text has ended. */
  get isComplete(): boolean {
    return this.#texts[0]?.finishReason !== undefined;
  }

  /** Those that have ended. @throws WorkerError `incomplete` without the first of them */
  finish(): readonly [CompletionText, ...CompletionText[]] {
    const [first, ...others] = this.#texts.flatMap(({ answer, finishReason, tokenIds, logprobs }, index): CompletionText[] => {
      if (finishReason === undefined) {
        if (index === 0) throw workerError('incomplete', { worker: this.#worker }, { usage: undefined });
        return [];
      }
      return [{ text: answer.toString(), finishReason, ...(tokenIds.length > 0 && tokenIds.length === logprobs.length && { tokenIds, logprobs }) }];
    });
    return [first as CompletionText, ...others];
  }
}
