import { randomUUID } from 'node:crypto';
import { isServedName } from '../protocol/served.ts';
import type { Usage } from '../protocol/usage.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { ChatDialects } from './adapters/chat-dialect.ts';
import { abortError, classifyError } from './adapters/classify-error.ts';
import type { ClientModel } from './adapters/client-model.ts';
import type { RunAgent } from './adapters/acp/run-agent.ts';
import { acpAdapter, createAdapter } from './adapters/create-adapter.ts';
import { delay as realDelay, type Delay } from './limits/delay.ts';
import { WorkerError } from './errors.ts';
import { estimateUsage } from './limits/estimate-tokens.ts';
import { FillInForms } from './adapters/fill-in-forms.ts';
import { isFree } from './limits/is-free.ts';
import type { KeySource } from './key-source.ts';
import type { Asked, Attempt, AttemptLog, AttemptSpent, Ledger, NextAttempt } from './limits/ledger.ts';
import type { LocalModelSource } from './adapters/local-adapter.ts';
import { KnownTerms } from './adapters/served/completion-terms.ts';
import { LoraRoutes, unload } from './adapters/served/lora-routes.ts';
import { servedAdapterOf } from './adapters/served/served-adapter.ts';
import type { ServedParts } from './adapters/served/served-conductor.ts';
import type { ServedModels } from './adapters/served/served-model.ts';
import type { AgentAct, ModelAdapter, ModelReply, ModelRequest } from './model.ts';
import { costOf, upperBound, type Prices } from './limits/prices.ts';
import type { ProviderLimits } from './limits/provider-limits.ts';
import { decideRetry, isLoad, MAX_RETRY_AFTER_MS } from './limits/retry-policy.ts';
import { listModels } from './servers/list-models.ts';
import { baseUrlOf, serverName } from './servers/server-of.ts';
import { StallWatch } from './limits/stall-watch.ts';

/** A request to a worker. The worker's own settings replace absent ones. */
export type WorkerRequest = Pick<ModelRequest, 'messages'> & Partial<Omit<ModelRequest, 'messages'>>;

export interface CallOptions {
  readonly ledger: Ledger;
  readonly attempts: AttemptLog;
  readonly keys: KeySource;
  readonly clientModel?: ClientModel | undefined;
  readonly signal: AbortSignal;
  /** Called with the streamed text of an attempt. Each attempt starts a new text. */
  readonly onText: (text: string, attempt: Attempt) => void;
  /** Called with what an agent does, in order. */
  readonly onAct?: ((act: AgentAct, attempt: Attempt) => void) | undefined;
  /** Called after the attempt is logged and before its request is sent. */
  readonly onAttempt?: ((attempt: Attempt) => void) | undefined;
  readonly maxAttempts?: number | undefined;
}

export interface CallResult {
  readonly reply: ModelReply;
  readonly attempt: Attempt;
  /** The usage and cost of the successful attempt. Failed attempts are in the log. */
  readonly spent: AttemptSpent;
}

/** How the last call of a worker in this process ended. */
export interface LastCall {
  /** Why it failed, in one sentence; absent if the worker answered. */
  readonly problem?: string;
}

interface Send {
  readonly worker: WorkerConfig;
  readonly key: string | undefined;
  readonly request: ModelRequest;
  readonly number: number;
}

interface RetryLater {
  readonly retryInMs: number;
}

export interface WorkerCallerOptions {
  readonly limits: ProviderLimits;
  readonly prices: Prices;
  readonly localModel?: LocalModelSource | undefined;
  readonly runAgent?: RunAgent | undefined;
  readonly servedModels?: ServedModels | undefined;
  /** For what a person is told once; by default nobody is. */
  readonly tell?: ((sentence: string) => void) | undefined;
  readonly now?: () => number;
  readonly random?: () => number;
  readonly delay?: Delay;
}

/** Calls workers within limits and budget, with timers and retries, and logs every attempt. */
export class WorkerCaller {
  readonly #limits: ProviderLimits;
  readonly #prices: Prices;
  readonly #localModel: LocalModelSource | undefined;
  readonly #runAgent: RunAgent | undefined;
  readonly #served: ServedParts | undefined;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #delay: Delay;
  readonly #dialects = new ChatDialects();
  readonly #fillInForms = new FillInForms();
  readonly #lastCalls = new Map<string, LastCall>();

  constructor({ limits, prices, localModel, runAgent, servedModels: models, tell = () => {}, now = Date.now, random = Math.random, delay = realDelay }: WorkerCallerOptions) {
    this.#limits = limits;
    this.#prices = prices;
    this.#localModel = localModel;
    this.#runAgent = runAgent;
    this.#served = models && { models, routes: new LoraRoutes(), terms: new KnownTerms(tell) };
    this.#now = now;
    this.#random = random;
    this.#delay = delay;
  }

  /** Undefined if the worker has not been called since its settings last changed. */
  lastCall(worker: WorkerConfig): LastCall | undefined {
    return this.#lastCalls.get(identityOf(worker));
  }

  /** Starts an agent and a session without asking it anything, which costs nothing. @returns its name and version. @throws WorkerError */
  async greet(worker: WorkerConfig, { keys, signal }: Pick<CallOptions, 'keys' | 'signal'>): Promise<string> {
    const key = await this.#unlessCancelled(worker, signal, async () => worker.key && (await keys.get(worker.key, signal)));
    return await (await acpAdapter(worker, { key: key || undefined, runAgent: this.#runAgent })).greet(signal);
  }

  /** Has the server of a served Conductor load its adapter, in place of what it has under that name. Nothing is asked of the model. @throws WorkerError */
  async load(worker: WorkerConfig, { keys, signal }: Pick<CallOptions, 'keys' | 'signal'>): Promise<void> {
    const key = await this.#unlessCancelled(worker, signal, async () => worker.key && (await keys.get(worker.key, signal)));
    const adapter = this.#served && (await servedAdapterOf(worker, this.#served.models));
    if (adapter) await this.#served?.routes.load(worker, adapter, { key: key || undefined, signal, inPlace: true });
  }

  /** Has the server of a served Conductor forget adapters (folders), in all versions that it has. What it does not forget stays loaded. @throws WorkerError without its key */
  async unload(worker: WorkerConfig, adapters: readonly string[], { keys, signal }: Pick<CallOptions, 'keys' | 'signal'>): Promise<void> {
    const key = (await this.#unlessCancelled(worker, signal, async () => worker.key && (await keys.get(worker.key, signal)))) || undefined;
    const { models } = await listModels({ provider: 'openai-compatible', baseUrl: baseUrlOf(worker), key }, signal);
    for (const { name } of models) if (adapters.some((adapter) => isServedName(name, adapter))) await unload(worker, name, { key, signal });
  }

  /**
   * @throws WorkerError if no attempt succeeded; `cancelled` if the signal aborted. All started attempts are settled by then.
   * @throws BudgetSpentError, from the ledger, before a request is sent.
   */
  async call(worker: WorkerConfig, workerRequest: WorkerRequest, options: CallOptions): Promise<CallResult> {
    const { keys, signal } = options;
    const request = requestFor(worker, workerRequest);
    for (let number = 1; ; number += 1) {
      const key = await this.#unlessCancelled(worker, signal, async () => worker.key && (await keys.get(worker.key, signal)));
      const slot = await this.#unlessCancelled(worker, signal, () => this.#limits.acquire(worker, signal));
      let outcome: CallResult | RetryLater;
      try {
        this.#throwIfCancelled(worker, signal);
        outcome = await this.#attempt({ worker, key: key || undefined, request, number }, options);
      } finally {
        slot.release();
      }
      if ('reply' in outcome) return outcome;
      const { retryInMs } = outcome;
      await this.#unlessCancelled(worker, signal, () => this.#delay(retryInMs, signal));
    }
  }

  /** Makes and logs one attempt. @throws WorkerError if it failed and no other follows. */
  async #attempt(send: Send, options: CallOptions): Promise<CallResult | RetryLater> {
    const { worker, key, request, number } = send;
    const { ledger, attempts, keys, clientModel } = options;
    const adapter = await createAdapter(worker, {
      key, clientModel, localModel: this.#localModel, runAgent: this.#runAgent, served: this.#served, dialects: this.#dialects, fillInForms: this.#fillInForms,
    });
    const reserved = upperBound(worker, request, this.#prices);
    const next: NextAttempt = { attemptId: randomUUID(), worker: worker.id, number, reserved };
    const asked: Asked = { ...reserved, isFree: isFree({ ...worker, price: this.#prices.of(worker) }) };
    const attempt: Attempt = { ...next, reservation: attempts.started(next, () => ledger.reserve(asked)) };
    options.onAttempt?.(attempt);

    const startedAt = this.#now();
    const outcome = await this.#stream(adapter, send, options, attempt);
    const { usage, usd } = 'reply' in outcome ? outcome.reply : outcome;
    // The clock may have been set back. The journal rejects negative durations, and the reply must not be lost.
    const durationMs = Math.max(0, this.#now() - startedAt);
    const spent: AttemptSpent = { usage, cost: costOf(worker, usage, this.#prices, usd), durationMs };
    if ('reply' in outcome) {
      attempts.succeeded(attempt, outcome.reply, spent);
      this.#lastCalls.set(identityOf(worker), {});
      return { reply: outcome.reply, attempt, spent };
    }

    const { error } = outcome;
    if (error.kind === 'authentication' && worker.key !== undefined) keys.forget(worker.key);
    const decision = decideRetry({ attempt: number, error, random: this.#random(), maxAttempts: options.maxAttempts });
    if (decision.retry) {
      if (isLoad(error)) this.#limits.coolDown(worker, decision.delayMs);
      attempts.failed(attempt, error.toFailure(), spent, decision.delayMs);
      return { retryInMs: decision.delayMs };
    }
    const final = decision.waitTooLong ? waitTooLong(worker, error) : error;
    attempts.failed(attempt, final.toFailure(), spent);
    if (final.kind !== 'cancelled') this.#lastCalls.set(identityOf(worker), { problem: final.message });
    throw final;
  }

  /** Never rejects: a failed attempt also has a cost to record. */
  async #stream(
    adapter: ModelAdapter,
    { worker, key, request }: Send,
    { signal, onText, onAct }: CallOptions,
    attempt: Attempt,
  ): Promise<{ reply: ModelReply } | { error: WorkerError; usage: Usage; usd?: number | undefined }> {
    const watch = new StallWatch(worker, signal);
    let streamedBytes = 0;
    try {
      const reply = await adapter.stream(request, {
        signal: watch.signal,
        onText: (text) => {
          watch.token();
          streamedBytes += Buffer.byteLength(text);
          onText(text, attempt);
        },
        onThinking: (text) => {
          watch.token();
          streamedBytes += Buffer.byteLength(text);
        },
        onActivity: () => watch.activity(),
        onAct: (act) => onAct?.(act, attempt),
      });
      return { reply };
    } catch (thrown) {
      const error = thrown instanceof WorkerError ? thrown : classifyError(thrown, { worker, key, messages: request.messages, signal });
      return { error, usage: error.usage ?? estimateUsage(request, streamedBytes), usd: error.usd };
    } finally {
      watch.stop();
    }
  }

  /** Waits between attempts. An abort during the wait ends the call as cancelled. */
  async #unlessCancelled<T>(worker: WorkerConfig, signal: AbortSignal, wait: () => Promise<T>): Promise<T> {
    this.#throwIfCancelled(worker, signal);
    try {
      return await wait();
    } catch (error) {
      this.#throwIfCancelled(worker, signal);
      throw error;
    }
  }

  #throwIfCancelled(worker: WorkerConfig, signal: AbortSignal): void {
    if (signal.aborted) throw abortError({ worker, signal });
  }
}

/** Identifies a worker by the settings that decide where its calls go. Editing them in workers.json makes it another worker. */
function identityOf({ id, provider, model, baseUrl, key, agent }: WorkerConfig): string {
  return JSON.stringify([id, provider, model, baseUrl, key, agent]);
}

/** The request as the model gets it: what it leaves open is as the worker's settings say. */
export function requestFor(worker: WorkerConfig, request: WorkerRequest): ModelRequest {
  const temperature = request.temperature ?? worker.temperature;
  const topP = request.topP ?? worker.topP;
  const reasoningEffort = request.reasoningEffort ?? worker.reasoningEffort;
  return {
    messages: request.messages,
    ...(request.tools && { tools: request.tools }),
    ...(request.toolChoice !== undefined && { toolChoice: request.toolChoice }),
    ...(request.parallelCalls !== undefined && { parallelCalls: request.parallelCalls }),
    ...(request.format !== undefined && { format: request.format }),
    ...(request.place && { place: request.place }),
    ...(request.fillIn && { fillIn: request.fillIn }),
    ...(request.continuation && { continuation: request.continuation }),
    ...(request.samples !== undefined && { samples: request.samples }),
    maxOutputTokens: request.maxOutputTokens ?? worker.maxOutputTokens,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(request.seed !== undefined && { seed: request.seed }),
    ...(request.frequencyPenalty !== undefined && { frequencyPenalty: request.frequencyPenalty }),
    ...(request.presencePenalty !== undefined && { presencePenalty: request.presencePenalty }),
    ...(reasoningEffort !== undefined && { reasoningEffort }),
    ...(worker.extraBody !== undefined && { extraBody: worker.extraBody }),
  };
}

function waitTooLong(worker: WorkerConfig, error: WorkerError): WorkerError {
  const { kind, status, retryAfterMs = 0, usage } = error;
  const minutes = Math.ceil(retryAfterMs / 60_000);
  return new WorkerError({
    kind,
    message:
      `Worker "${worker.id}": ${serverName(worker)} asks to wait ${minutes} minutes, longer than the ` +
      `${MAX_RETRY_AFTER_MS / 60_000} that a call waits; try again later or use another worker.`,
    status,
    retryAfterMs,
    usage,
    cause: error,
  });
}
