import { createHash } from 'node:crypto';
import * as z from 'zod';
import { usageSchema } from '../protocol/usage.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { ModelReply, ModelRequest } from './model.ts';

/** Where answers are kept, as text. Errors are the store's own. */
export interface AnswerStore {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

/** An answer by everything it depends on. */
export interface AnswerQuestion {
  readonly worker: Pick<WorkerConfig, 'id' | 'provider' | 'model' | 'baseUrl'>;
  readonly request: ModelRequest;
  /** Which of several independent answers to the same messages. */
  readonly sampleIndex: number;
  /** Answers are shared within a scope, such as one training run, and never across. */
  readonly scope: string;
}

const replySchema: z.ZodType<ModelReply> = z.object({
  text: z.string(),
  finishReason: z.enum(['stop', 'length', 'content-filter']),
  usage: usageSchema,
  model: z.string(),
});

/**
 * Answers of workers for training and evaluation, where the same step is asked many times and money is the limit. Solve does
 * without: people who ask again want another answer.
 */
export class AnswerCache {
  readonly #store: AnswerStore;

  constructor(store: AnswerStore) {
    this.#store = store;
  }

  /** @returns `undefined` for an answer that is not there, or is there in a form that another version wrote. */
  get(question: AnswerQuestion): ModelReply | undefined {
    const value = this.#store.get(answerKey(question));
    if (value === undefined) return undefined;
    try {
      return replySchema.safeParse(JSON.parse(value)).data;
    } catch {
      return undefined;
    }
  }

  set(question: AnswerQuestion, reply: ModelReply): void {
    this.#store.set(answerKey(question), JSON.stringify(reply));
  }
}

/** SHA-256, in hexadecimal, of the question in one canonical form. */
export function answerKey({ worker, request, sampleIndex, scope }: AnswerQuestion): string {
  const { id, provider, model, baseUrl } = worker;
  const { messages, ...parameters } = request;
  const question = {
    worker: { id, provider, model, baseUrl },
    parameters,
    messages: messages.map(({ role, content }) => ({ role, content })),
    sampleIndex,
    scope,
  };
  return createHash('sha256').update(canonicalJson(question)).digest('hex');
}

/** JSON with the keys of objects in order and absent values left out, so that equal values have equal text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
