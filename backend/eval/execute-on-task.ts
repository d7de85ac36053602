import type { Message } from '../workers/model.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { executePlan } from '../workflow/execute-plan.ts';
import { stepsOf } from '../workflow/plan.ts';
import { workerMessages } from '../workflow/worker-messages.ts';
import { PlanNotRunError, type RunPlan } from './run-plan.ts';

export interface WorkerReply {
  readonly text: string;
  readonly costUsd: number;
}

/** One paid answer of a worker. `sample` is its seed, if the worker supports seeds. */
export type AskWorker = (worker: WorkerConfig, messages: readonly Message[], sample: number,
  signal: AbortSignal) => Promise<WorkerReply>;

/** Runs plans with Solve's executor and prompts. The caller supplies the worker calls. */
export function planRunner(ask: AskWorker): RunPlan {
  return async ({ id, question, context, grader }, plan, { pool, sample, signal }) => {
    let costUsd = 0;
    const result = await executePlan({
      steps: stepsOf(plan),
      finished: new Map(),
      signal,
      onSkipped: () => {},
      runStep: async (step, inputs, stepSignal) => {
        const worker = pool[step.worker];
        if (!worker) throw new RangeError(`The plan names worker ${step.worker}, and the pool has ${pool.length}.`);
        const messages = workerMessages({ question, context, editsFiles: false, inputs, subtask: step.subtask });
        const reply = await ask(worker, messages, sample, stepSignal);
        costUsd += reply.costUsd;
        return reply.text;
      },
    });
    if (!result.ok) {
      const said = result.error instanceof Error ? result.error.message : String(result.error);
      throw new PlanNotRunError(id, costUsd, said, { cause: result.error });
    }
    const grade = await grader.grade({ answer: result.answer, signal });
    if (grade.outcome === 'infrastructure') throw new PlanNotRunError(id, costUsd, grade.reason);
    return { verified: grade.verified, score: grade.score, costUsd, answer: result.answer };
  };
}
