import { relative, resolve, sep } from 'node:path';
import type { Journal } from '../journal/journal.ts';
import type { SuggestOutcome, SuggestRequest, SuggestResult } from '../protocol/suggestions.ts';
import type { WorkerConfig, WorkersFile } from '../protocol/worker-config.ts';
import type { Clients } from '../solve/clients.ts';
import { RunError } from '../solve/failure.ts';
import { RunKeys } from '../solve/run-keys.ts';
import type { CallOptions, WorkerCaller } from '../workers/call-worker.ts';
import { WorkerError } from '../workers/errors.ts';
import { isFree } from '../workers/limits/is-free.ts';
import { Routes, type RoutesOptions, type RoutingCall } from './route.ts';
import type { OutcomesFile } from './outcomes-file.ts';
import type { ProjectPieces } from './project-pieces.ts';
import type { SendableFiles } from './sendable-files.ts';
import { plainCode, suggestionPrompt } from './suggestion-prompt.ts';
import { spentOnSuggestions, SuggestLedger, SUGGESTIONS } from './suggest-ledger.ts';

export interface SuggesterOptions extends Omit<RoutesOptions, 'hasKey' | 'now'> {
  readonly outcomes: OutcomesFile;
  readonly journal: Journal;
  readonly caller: WorkerCaller;
  readonly clients: Clients;
  readonly loadWorkers: () => Promise<WorkersFile>;
  readonly files: SendableFiles;
  readonly pieces: Pick<ProjectPieces, 'of'>;
  readonly now?: () => number;
}

export interface SuggestOptions {
  readonly signal: AbortSignal;
  /** Called with the suggestion as far as it has been streamed. */
  readonly onText: (soFar: SuggestResult) => void;
}

/** Everything that a client can ask about suggestions. */
export type SuggestionService = Pick<Suggester, 'complete' | 'count' | 'forgetOutcomes'>;

const LINE_TOKENS = 128;
const BLOCK_TOKENS = 320;

/** The path within the project: where the project lies on the machine is private. */
function withinWorkspace({ workspace, path }: Pick<SuggestRequest, 'workspace' | 'path'>): string {
  return relative(workspace, resolve(workspace, path)).split(sep).join('/');
}

/** Limits the reasoning effort: reasoning would use up the time and the tokens of a suggestion. */
function quickly({ reasoningEffort }: WorkerConfig): Pick<WorkerConfig, 'reasoningEffort'> {
  const isQuick = reasoningEffort === undefined || reasoningEffort === 'none' || reasoningEffort === 'minimal';
  return isQuick ? {} : { reasoningEffort: 'low' };
}

/** An error, because an empty suggestion would mean that nothing belongs there. */
function onlyThought(worker: string): RunError {
  const message = `Worker "${worker}" thought until its tokens were spent: name another worker in conductor.suggestions.worker.`;
  return new RunError('no-suggestion', message);
}

/** What a call is aborted with when the backend ends. */
class Ending extends Error {}

/**
 * Suggests the code at a cursor. The worker is chosen once for a language in a project, the rules of the context decide what is sent, and
 * the cost is reserved before the call and counted after it. There is one attempt, because the next keystroke asks again.
 */
export class Suggester {
  readonly #options: SuggesterOptions;
  readonly #routes: Routes;
  readonly #now: () => number;
  readonly #end = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: SuggesterOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    const { clients, journal } = options;
    this.#routes = new Routes({ ...options, now: this.#now, hasKey: async (name) => Boolean(await clients.secret(name)) });
    // Calls of a killed process may have been billed.
    journal.budget.closeAbandoned(SUGGESTIONS);
  }

  /**
   * @throws WorkerError, BudgetSpentError, RunError, ConfigFileError: each with a sentence for people
   */
  complete(request: SuggestRequest, options: SuggestOptions): Promise<SuggestResult> {
    const completing = this.#complete(request, { ...options, signal: AbortSignal.any([options.signal, this.#end.signal]) });
    this.#underWay.add(completing);
    completing.finally(() => this.#underWay.delete(completing)).catch(() => undefined);
    return completing;
  }

  /** Counts a suggestion that was shown. */
  count(outcome: SuggestOutcome): Promise<void> {
    return this.#options.outcomes.add(outcome);
  }

  forgetOutcomes(): Promise<void> {
    return this.#options.outcomes.forget();
  }

  /** Cancels the calls in progress and journals their cost. */
  async close(): Promise<void> {
    this.#end.abort(new Ending('The backend is ending.'));
    await Promise.allSettled([...this.#underWay, this.#options.outcomes.flush()]);
  }

  async #complete(request: SuggestRequest, { signal, onText }: SuggestOptions): Promise<SuggestResult> {
    const { workspace, path, trusted, multiline } = request;
    if (!trusted) throw new RunError('untrusted-workspace', 'This workspace is not trusted, so nothing of it is sent.');
    const refusal = await this.#options.files.whyNot(workspace, path);
    if (refusal !== undefined) return this.#withheld(`Nothing of this file is sent: ${refusal}.`);
    const pieces = request.project ? await this.#pieces(request) : [];
    const prompt = suggestionPrompt({ ...request, path: withinWorkspace(request) }, pieces);
    if (!prompt) return this.#withheld('This line looks like a secret, so nothing is asked about it.');
    signal.throwIfAborted();

    const workers = await this.#options.loadWorkers();
    const worker = await this.#workerFor(request, workers, signal);
    const { id, model, simulated } = worker;
    const spentBefore = this.#spent();
    let text = '';
    try {
      const { reply } = await this.#call(worker, { request, workers, signal }, {
        messages: prompt.messages,
        fillIn: prompt.fillIn,
        maxOutputTokens: Math.min(worker.maxOutputTokens, multiline ? BLOCK_TOKENS : LINE_TOKENS),
        ...quickly(worker),
      }, {
        onText: (piece) => {
          text += piece;
          onText({ ...spentBefore, text: plainCode(text, request), worker: { id, model, simulated } });
        },
      });
      if (reply.text.trim() === '' && reply.finishReason === 'length') throw onlyThought(id);
      return { ...this.#spent(), text: plainCode(reply.text, request), worker: { id, model: reply.model, simulated } };
    } catch (error) {
      const isWithoutKey = error instanceof WorkerError && (error.kind === 'missing-key' || error.kind === 'authentication');
      if (isWithoutKey) this.#routes.forget(request, worker);
      throw error;
    }
  }

  /** A suggestion without other parts of the project is better than none. */
  async #pieces(request: SuggestRequest): ReturnType<ProjectPieces['of']> {
    try {
      return await this.#options.pieces.of(request);
    } catch (error) {
      this.#options.log(`A suggestion is asked for without other parts of the project: ${String(error)}`);
      return [];
    }
  }

  #workerFor(request: SuggestRequest, workers: WorkersFile, signal: AbortSignal): Promise<WorkerConfig> {
    const { worker: id } = request;
    if (id !== undefined) {
      const named = workers.workers.find((worker) => worker.id === id);
      if (!named) throw new RunError('unknown-worker', `There is no worker "${id}", which the settings name for suggestions.`);
      return Promise.resolve(this.#options.priced(named));
    }
    const call: RoutingCall = async (planner, asked, callSignal) => {
      const { reply } = await this.#call(planner, { request, workers, signal: callSignal }, asked, { maxAttempts: undefined });
      return reply;
    };
    return this.#routes.workerFor(request, workers, call, { caller: signal, end: this.#end.signal });
  }

  #call(
    worker: WorkerConfig,
    { request, workers, signal }: { request: SuggestRequest; workers: WorkersFile; signal: AbortSignal },
    asked: Parameters<WorkerCaller['call']>[1],
    options: Partial<Pick<CallOptions, 'onText' | 'maxAttempts'>>,
  ): ReturnType<WorkerCaller['call']> {
    const { journal, caller, clients } = this.#options;
    const ledger = new SuggestLedger({
      journal, limits: workers.budget, maxUsdPerDay: request.maxUsdPerDay, isFree: isFree(worker), now: this.#now,
    });
    const keys = new RunKeys({ clients, signal, patient: false, onWaiting: () => new Promise(() => {}) });
    return caller.call(worker, asked, {
      ledger, attempts: ledger, keys, signal, clientModel: (call) => clients.model(call), onText: () => {}, maxAttempts: 1,
      ...options,
    });
  }

  #withheld(withheld: string): SuggestResult {
    return { ...this.#spent(), text: '', withheld };
  }

  #spent(): ReturnType<typeof spentOnSuggestions> {
    return spentOnSuggestions(this.#options.journal.budget, this.#now());
  }
}
