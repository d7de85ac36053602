import { createHash } from 'node:crypto';
import * as z from 'zod';
import { toolCallSchema, verbatimTurnSchema } from '../protocol/tool-calls.ts';
import { usageSchema } from '../protocol/usage.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { ModelReply, ModelRequest } from './model.ts';

/** Stores answers as text. Errors are those of the store. */
export interface AnswerStore {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

/** Everything that an answer depends on. */
export interface AnswerQuestion {
  readonly worker: Pick<WorkerConfig, 'id' | 'provider' | 'model' | 'baseUrl' | 'weights'>;
  readonly request: ModelRequest;
  /** The index among several independent answers to the same messages. */
  readonly sampleIndex: number;
  /** Answers are shared only within a scope, such as one training. */
  readonly scope: string;
}

const replySchema: z.ZodType<ModelReply> = z.object({
  text: z.string(),
  toolCalls: z.array(toolCallSchema).optional(),
  verbatim: verbatimTurnSchema.optional(),
  finishReason: z.enum(['stop', 'length', 'content-filter']),
  usage: usageSchema,
  model: z.string(),
});

/**
 * Caches workers' answers for training and evaluation, where the same step is requested many times and money is limited. Runs do not use
 * it: a user who asks again wants a new answer.
 */
export class AnswerCache {
  readonly #store: AnswerStore;

  constructor(store: AnswerStore) {
    this.#store = store;
  }

  /** @returns `undefined` if there is no answer, or only one in the format of another version. */
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

/** SHA-256, in hexadecimal, of the question in canonical form. */
export function answerKey({ worker, request, sampleIndex, scope }: AnswerQuestion): string {
  const { id, provider, model, baseUrl, weights } = worker;
  const { messages, ...parameters } = request;
  const question = {
    worker: { id, provider, model, baseUrl, weights },
    parameters,
    // Where a prompt is marked for a provider's cache changes no answer.
    messages: messages.map((message) => ({ ...message, sharedPrefix: undefined })),
    sampleIndex,
    scope,
  };
  return createHash('sha256').update(canonicalJson(question)).digest('hex');
}

/** JSON with sorted keys and without absent values, so that equal values give equal text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
