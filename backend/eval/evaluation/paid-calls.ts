import * as z from 'zod';
import { toolCallSchema, verbatimTurnSchema } from '../../protocol/tool-calls.ts';
import { usageSchema } from '../../protocol/usage.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { answerKey } from '../../workers/answer-cache.ts';
import type { ClientModel } from '../../workers/adapters/client-model.ts';
import type { WorkerCaller } from '../../workers/call-worker.ts';
import type { KeySource } from '../../workers/key-source.ts';
import { whenOthersEnd } from '../../workers/limits/when-others-end.ts';
import type { ModelRequest } from '../../workers/model.ts';
import type { WorkerReply } from '../run-plan.ts';
import { EvaluationBudgetError, type EvaluationFile } from './evaluation-file.ts';

/** What a stored answer was, and what it used when it was paid for. */
const keptAnswerSchema = z.object({
  text: z.string(),
  finishReason: z.enum(['stop', 'length', 'content-filter']),
  toolCalls: z.array(toolCallSchema).readonly().optional(),
  verbatim: verbatimTurnSchema.optional(),
  usage: usageSchema,
  /** Absent if no price was known. */
  usd: z.number().optional(),
  seconds: z.number(),
});
type KeptAnswer = z.infer<typeof keptAnswerSchema>;

export type EvalReply = WorkerReply & Pick<KeptAnswer, 'finishReason' | 'toolCalls' | 'verbatim'>;

/** Asks a model. Another sample is an independent answer. */
export type AskModel = (worker: WorkerConfig, request: ModelRequest, sample: number, signal: AbortSignal) => Promise<EvalReply>;

export interface PaidCallsOptions {
  readonly file: EvaluationFile;
  readonly caller: Pick<WorkerCaller, 'call'>;
  readonly keys: KeySource;
  readonly clientModel?: ClientModel | undefined;
  /** Distinguishes answers of simulated workers, which depend on their seed and not on their address. */
  readonly simulation?: string | undefined;
}

/** How long a call that does not fit into the budget waits for others to end: they reserve far more than they spend. */
const RETRY_MS = 100;

/** Answers of an evaluation. Each is paid for once, whoever asks for it and however often the evaluation is started again. */
export class PaidCalls {
  readonly #options: PaidCallsOptions;
  readonly #underWay = new Map<string, Promise<KeptAnswer>>();
  #paid = 0;
  #served = 0;

  constructor(options: PaidCallsOptions) {
    this.#options = options;
  }

  /** Calls that this process paid for, and calls that were served from the file. */
  get counts(): { readonly paid: number; readonly served: number } {
    return { paid: this.#paid, served: this.#served };
  }

  /** @throws WorkerError, EvaluationBudgetError */
  readonly ask: AskModel = async (worker, request, sample, signal) => {
    const key = this.#keyOf(worker, request, sample);
    const kept = this.#kept(key);
    const joined = kept ? undefined : this.#underWay.get(key);
    const isServed = kept !== undefined || joined !== undefined;
    if (isServed) this.#served += 1;
    const { usd = 0, ...answer } = kept ?? (await (joined ?? this.#pay(key, worker, request, sample, signal)));
    return { ...answer, costUsd: usd, served: isServed };
  };

  #keyOf(worker: WorkerConfig, request: ModelRequest, sampleIndex: number): string {
    const { id, provider, model, baseUrl, weights } = worker;
    const { simulation } = this.#options;
    const isSimulated = worker.simulated && simulation !== undefined;
    return answerKey({
      worker: { id, provider, model, baseUrl: isSimulated ? undefined : baseUrl, weights }, request, sampleIndex, scope: isSimulated ? simulation : 'evaluation',
    });
  }

  /** Undefined if there is none, or only one in the form of another version. */
  #kept(key: string): KeptAnswer | undefined {
    const value = this.#options.file.get(key);
    if (value === undefined) return undefined;
    try {
      return keptAnswerSchema.safeParse(JSON.parse(value)).data;
    } catch {
      return undefined;
    }
  }

  #pay(key: string, worker: WorkerConfig, request: ModelRequest, sample: number, signal: AbortSignal): Promise<KeptAnswer> {
    const paying = this.#call(key, worker, request, sample, signal).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, paying);
    return paying;
  }

  async #call(key: string, worker: WorkerConfig, request: ModelRequest, sample: number, signal: AbortSignal): Promise<KeptAnswer> {
    const { file, caller, keys, clientModel } = this.#options;
    let kept: KeptAnswer | undefined;
    const attempts = file.attempts(({ text, finishReason, toolCalls, verbatim }, { usage, cost, durationMs }) => {
      kept = { text, finishReason, ...(toolCalls && { toolCalls }), ...(verbatim && { verbatim }), usage, ...(cost.usd !== undefined && { usd: cost.usd }), seconds: durationMs / 1_000 };
      file.set(key, JSON.stringify(kept));
    });
    await whenOthersEnd(
      () => caller.call(worker, { ...request, seed: sample }, { ledger: file.ledger, attempts, keys, clientModel, signal, onText: () => {} }),
      (error) => error instanceof EvaluationBudgetError && error.mayPass,
      { retryMs: RETRY_MS, signal },
    );
    this.#paid += 1;
    if (!kept) throw new Error(`The answer of "${worker.id}" was not kept.`);
    return kept;
  }
}
