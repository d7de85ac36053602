import { NO_USAGE } from '../../protocol/token-counts.ts';
import type { Price, WorkerConfig } from '../../protocol/worker-config.ts';
import { answerKey } from '../../workers/answer-cache.ts';
import { estimateInputTokens } from '../../workers/limits/estimate-tokens.ts';
import type { Grader } from '../../verify/graders/grader.ts';
import { wholeGrade } from '../../verify/graders/grader.ts';
import { evaluate, type EvaluateOptions } from './evaluate.ts';
import type { AskModel } from './paid-calls.ts';

/** What an evaluation is expected to cost. */
export interface EvaluationEstimate {
  readonly calls: number;
  readonly usd: number;
  /** Ids of workers whose calls have no known price. */
  readonly unpriced: readonly string[];
}

/** Tokens of a usual answer. The paper's workers use about 600 a step (arXiv 2512.04388 Table 6: 1,820 tokens for three steps). */
const USUAL_OUTPUT_TOKENS = 600;
const USUAL_ANSWER = 'x '.repeat(2 * USUAL_OUTPUT_TOKENS);
/** A plan of three steps, the paper's average. */
const usualPlan = (workers: number): string =>
  `model_id = [0, ${1 % workers}, ${2 % workers}]\nsubtasks = ["Outline how the question is solved.", "Write the solution.", "Check the solution and return it whole."]\naccess_list = [[], ["all"], ["all"]]`;

const ungraded: Grader = { grade: () => Promise.resolve(wholeGrade(false, 'rehearsal')) };

export interface RehearseOptions extends Pick<EvaluateOptions, 'tasks' | 'pool' | 'seeds' | 'signal'> {
  readonly priceOf: (worker: WorkerConfig) => Price | undefined;
  /** How many workers every plan may use. */
  readonly plannedWorkers: number;
  /** Makes the contestants, which ask by `ask`. */
  readonly contestants: (ask: AskModel) => EvaluateOptions['contestants'];
}

/**
 * Rehearses an evaluation with answers of a usual length, without a call: how many different calls it makes, and what they would cost. Calls
 * that contestants share count once.
 */
export async function rehearse({ tasks, pool, seeds, signal, priceOf, plannedWorkers, contestants }: RehearseOptions): Promise<EvaluationEstimate> {
  const asked = new Set<string>();
  const unpriced = new Set<string>();
  const isPoolWorker = new Set(pool);
  let usd = 0;
  const ask: AskModel = (worker, request, sampleIndex) => {
    const key = answerKey({ worker, request, sampleIndex, scope: 'rehearsal' });
    if (!asked.has(key)) {
      asked.add(key);
      const price = priceOf(worker);
      if (!price) unpriced.add(worker.id);
      else usd += (estimateInputTokens(request) * price.inputPerMillion + Math.min(request.maxOutputTokens, USUAL_OUTPUT_TOKENS) * price.outputPerMillion) / 1e6;
    }
    const text = isPoolWorker.has(worker) ? USUAL_ANSWER : usualPlan(plannedWorkers);
    return Promise.resolve({ text, finishReason: 'stop', costUsd: 0, usage: NO_USAGE, seconds: 0 });
  };
  await evaluate({ tasks: tasks.map((task) => ({ ...task, grader: ungraded, tests: task.tests && ungraded, hands: task.hands && ('rehearsed' as const) })), contestants: contestants(ask), pool, seeds, ask, concurrency: 1, signal });
  return { calls: asked.size, usd, unpriced: [...unpriced] };
}
