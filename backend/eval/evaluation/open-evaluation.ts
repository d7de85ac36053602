import path from 'node:path';
import type { ContestantName } from '../../protocol/contestants.ts';
import type { EvaluationBudget } from '../../protocol/evaluation-request.ts';
import type { Sample } from '../../protocol/evaluations.ts';
import { VERSION } from '../../protocol/product-version.ts';
import type { Price, WorkerConfig } from '../../protocol/worker-config.ts';
import { mean } from '../../train/statistics/statistics.ts';
import type { ClientModel } from '../../workers/adapters/client-model.ts';
import type { WorkerCaller } from '../../workers/call-worker.ts';
import type { KeySource } from '../../workers/key-source.ts';
import type { RoutedExample } from '../contestants/nearest-neighbour-router.ts';
import type { Contestant } from '../contestant.ts';
import { workerAlone } from '../contestants/worker-alone.ts';
import { QUESTION_SHAPES } from '../plans.ts';
import type { EvalTask } from '../run-plan.ts';
import type { SameAnswer } from '../voting.ts';
import { writeResultFiles } from '../result-files/write-result-files.ts';
import { evaluate, type FiledTask } from './evaluate.ts';
import { EvaluationBudgetError, EvaluationFile, type EvaluationSpending } from './evaluation-file.ts';
import { FILES } from './files.ts';
import { keepEvaluation, SampleLog, type KeptEvaluation } from './kept-evaluation.ts';
import { lineUp, type PlannerChoice } from './line-up.ts';
import { PaidCalls, type AskModel } from './paid-calls.ts';
import { rehearse, type EvaluationEstimate } from './rehearse.ts';
import { resultRows, resultsSchema, type EvaluationResults } from './results.ts';

/** Where tasks came from. */
export interface TaskSource {
  readonly name: string;
  readonly tasks: readonly FiledTask[];
  /** Number of tasks by form. */
  readonly forms: Readonly<Record<string, number>>;
}

export interface EvaluationOptions {
  readonly sources: readonly TaskSource[];
  /** Tasks that routers learn from, and that tell which worker is the best. */
  readonly practice: readonly FiledTask[];
  readonly contestants: readonly ContestantName[];
  readonly planners: readonly PlannerChoice[];
  /** By ordinal. */
  readonly pool: readonly WorkerConfig[];
  /** Id of the worker that contestants with one worker use; by default the best in practice, or the most expensive. */
  readonly best?: string | undefined;
  readonly seeds: number;
  readonly budget: EvaluationBudget;
  /** Folder (absolute) of what was paid for and of the results. */
  readonly folder: string;
  readonly concurrency: number;
  readonly caller: Pick<WorkerCaller, 'call'>;
  readonly keys: KeySource;
  /** Models that only a client can reach. */
  readonly clientModel?: ClientModel | undefined;
  readonly priceOf: (worker: WorkerConfig) => Price | undefined;
  readonly sameFor: (task: EvalTask, signal: AbortSignal) => SameAnswer;
  readonly simulation?: string | undefined;
  /** What was asked for, as it is kept in the folder. */
  readonly asked: Omit<KeptEvaluation, 'state' | 'message' | 'lineUp' | 'judged' | 'spent'>;
}

export interface EvaluationProgress {
  readonly done: number;
  readonly all: number;
  readonly spent: EvaluationSpending;
  /** Of workers that are tried on tasks of practice there are none. */
  readonly samples: readonly Sample[];
  readonly isPractice: boolean;
}

/** The process ends, and another one goes on: the evaluation was not stopped. */
export class GoesOnLater extends Error {
  override readonly name = 'GoesOnLater';
}

/** One evaluation: its estimate, its run, its results on disk. Close it at the end. */
export class Evaluation {
  readonly #options: EvaluationOptions;
  readonly #file: EvaluationFile;
  readonly #calls: PaidCalls;

  /** @throws EvaluationFileError */
  constructor(options: EvaluationOptions) {
    this.#options = options;
    this.#file = new EvaluationFile(path.join(options.folder, FILES.answers), options.budget);
    const { caller, keys, clientModel, simulation } = options;
    this.#calls = new PaidCalls({ file: this.#file, caller, keys, clientModel, simulation });
  }

  get spent(): EvaluationSpending {
    return this.#file.spent;
  }

  /** What all calls would cost if none was paid for yet. @throws the signal's reason */
  async estimate(signal: AbortSignal): Promise<EvaluationEstimate> {
    const { pool, practice, seeds, priceOf, planners } = this.#options;
    const plannedWorkers = Math.min(pool.length, ...planners.map(({ switches }) => switches.pool ?? pool.length));
    const { best } = this.#best([]);
    const tasks = this.#tasks;
    const main = await rehearse({
      tasks, pool, seeds, signal, priceOf, plannedWorkers,
      contestants: (ask) => this.#lineUp(ask, best, [], () => () => Promise.resolve(true), signal),
    });
    if (practice.length === 0) return main;
    const before = await rehearse({ tasks: practice, pool, seeds: 1, signal, priceOf, plannedWorkers, contestants: () => this.#singles });
    return { calls: main.calls + before.calls, usd: main.usd + before.usd, unpriced: [...new Set([...main.unpriced, ...before.unpriced])] };
  }

  /**
   * Runs what was not run yet, and writes the files of results.
   * @throws EvaluationBudgetError, WorkerError, PlanNotRunError; the signal's reason. What was paid for is kept.
   */
  async run(signal: AbortSignal, onProgress: (progress: EvaluationProgress) => void): Promise<{ readonly results: EvaluationResults; readonly samples: readonly Sample[] }> {
    const { asked, folder } = this.#options;
    let lineUp: KeptEvaluation['lineUp'];
    let judged = 0;
    const keep = (end: Pick<KeptEvaluation, 'state' | 'message'>): Promise<void> => keepEvaluation(folder, { ...asked, ...end, ...(lineUp && { lineUp }), judged, spent: this.spent });
    await keep({ state: 'running' });
    try {
      const done = await this.#run(signal, (progress) => {
        judged = progress.samples.length;
        onProgress(progress);
      }, async (begun) => {
        lineUp = begun;
        await keep({ state: 'running' });
      });
      await keep({ state: 'over' });
      return done;
    } catch (error) {
      // On a full disk the reason counts, and not that it could not be kept.
      if (!(signal.reason instanceof GoesOnLater)) await keep(endingOf(error, signal)).catch(() => undefined);
      throw error;
    }
  }

  async #run(
    signal: AbortSignal, onProgress: (progress: EvaluationProgress) => void, onLineUp: (lineUp: NonNullable<KeptEvaluation['lineUp']>) => Promise<void>,
  ): Promise<{ readonly results: EvaluationResults; readonly samples: readonly Sample[] }> {
    const { pool, practice, seeds, concurrency, simulation, folder, priceOf, sameFor } = this.#options;
    const shared = { pool, file: this.#file, simulation, concurrency, ask: this.#calls.ask, signal };
    const practised = practice.length === 0 ? [] : await evaluate({
      ...shared, tasks: practice, contestants: this.#singles, seeds: 1,
      onSample: (_sample, done, all) => onProgress({ done, all, spent: this.spent, samples: [], isPractice: true }),
    });
    const examples = practice.map(({ id, question }): RoutedExample => ({
      question, scores: this.#singles.map(({ name }) => practised.find((sample) => sample.task === id && sample.contestant === name)?.score ?? 0),
    }));
    const { best, why } = this.#best(examples);
    const contestants = this.#lineUp(this.#calls.ask, best, examples, (task) => sameFor(task, signal), signal);
    const chosen = { worker: pool[best]?.id ?? '', why };
    const isSimulated = pool.some(({ simulated }) => simulated);
    await onLineUp({ tasks: this.#taskCounts, contestants: contestants.map(({ name }) => name), pool: pool.map(({ id }) => id), best: chosen, simulated: isSimulated });
    const log = new SampleLog(folder, this.#tasks);
    const gathered: Sample[] = [];
    const samples = await evaluate({
      ...shared, tasks: this.#tasks, seeds, contestants,
      onSample: (sample, done, all) => {
        gathered.push(sample);
        log.add(sample);
        onProgress({ done, all, spent: this.spent, samples: gathered, isPractice: false });
      },
    });
    const results = resultsSchema.parse({
      version: 1,
      conductor: VERSION,
      at: new Date().toISOString(),
      simulated: isSimulated,
      sources: this.#taskCounts,
      tasks: this.#tasks.length,
      seeds,
      pool: pool.map((worker) => {
        const price = priceOf(worker);
        return { id: worker.id, provider: worker.provider, model: worker.model, ...(price && { inputPerMillion: price.inputPerMillion, outputPerMillion: price.outputPerMillion }) };
      }),
      best: chosen,
      spent: { ...this.spent, ...this.#calls.counts },
      contestants: resultRows(samples),
      samples: samples.map(({ contestant, task, seed, verified, score, costUsd }) => ({ contestant, task, seed, verified, score, costUsd })),
    } satisfies EvaluationResults);
    await writeResultFiles(folder, { results, samples, tasks: new Map(this.#tasks.map((task) => [task.id, task])) });
    return { results, samples };
  }

  close(): void {
    this.#file.close();
  }

  get #tasks(): FiledTask[] {
    return this.#options.sources.flatMap(({ tasks }) => tasks);
  }

  get #taskCounts(): { name: string; tasks: number; forms: Record<string, number> }[] {
    return this.#options.sources.map(({ name, tasks, forms }) => ({ name, tasks: tasks.length, forms: { ...forms } }));
  }

  get #singles(): Contestant[] {
    return this.#options.pool.map(({ id }, worker) => workerAlone(worker, id, QUESTION_SHAPES));
  }

  #lineUp(ask: AskModel, best: number, examples: readonly RoutedExample[], sameFor: (task: EvalTask) => SameAnswer, signal: AbortSignal): Contestant[] {
    const { contestants: names, planners, pool } = this.#options;
    return lineUp({ names, planners, pool, best, cheapest: this.#cheapest, priceOf: (worker) => this.#costs[worker] ?? Infinity, ask, sameFor, examples, signal });
  }

  /** The ordinal of the best worker, which must not be known from the tasks of the evaluation. */
  #best(examples: readonly RoutedExample[]): { readonly best: number; readonly why: string } {
    const { best: chosen, pool } = this.#options;
    if (chosen !== undefined) return { best: pool.findIndex(({ id }) => id === chosen), why: 'chosen' };
    if (examples.length > 0) {
      const scores = pool.map((_, worker) => mean(examples.map((example) => example.scores[worker] ?? 0)));
      return { best: scores.indexOf(Math.max(...scores)), why: 'best in practice' };
    }
    const costs = pool.map((worker) => costOfTokens(this.#options.priceOf(worker)) ?? -1);
    return { best: costs.indexOf(Math.max(...costs)), why: 'most expensive' };
  }

  get #cheapest(): number {
    return this.#costs.indexOf(Math.min(...this.#costs));
  }

  get #costs(): number[] {
    return this.#options.pool.map((worker) => costOfTokens(this.#options.priceOf(worker)) ?? Infinity);
  }
}

function endingOf(error: unknown, signal: AbortSignal): Pick<KeptEvaluation, 'state' | 'message'> {
  if (signal.aborted) return { state: 'stopped' };
  const message = error instanceof Error ? error.message : String(error);
  return { state: error instanceof EvaluationBudgetError ? 'budget' : 'failed', message };
}

/** Dollars for a million tokens each of input and output. */
const costOfTokens = (price: Price | undefined): number | undefined => price && price.inputPerMillion + price.outputPerMillion;
