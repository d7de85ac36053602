import { addUsage, NO_USAGE } from '../protocol/token-counts.ts';
import type { Usage } from '../protocol/usage.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { Message } from '../workers/model.ts';
import { executePlan } from '../workflow/execute-plan.ts';
import { stepsOf } from '../workflow/plan.ts';
import { workerMessages } from '../workflow/worker-messages.ts';
import { gradeAnswer, PlanNotRunError, type ExecutePlan, type RunPlan, type StepTrace } from './run-plan.ts';

export interface WorkerReply {
  readonly text: string;
  readonly costUsd: number;
  readonly usage: Usage;
  readonly seconds: number;
  /** True if it was paid for earlier. */
  readonly served?: boolean;
}

/** One paid answer of a worker. `sample` is its seed, if the worker supports seeds. */
export type AskWorker = (worker: WorkerConfig, messages: readonly Message[], sample: number,
  signal: AbortSignal) => Promise<WorkerReply>;

/** Executes plans with Solve's executor and prompts. The caller supplies the worker calls. */
export function planExecutor(ask: AskWorker): ExecutePlan {
  return async ({ id, question, context, project }, plan, { pool, sample, signal }) => {
    let costUsd = 0;
    let usage = NO_USAGE;
    const steps = stepsOf(plan);
    const traces: StepTrace[] = [];
    const endedAt: number[] = [];
    const result = await executePlan({
      steps,
      finished: new Map(),
      signal,
      onSkipped: () => {},
      runStep: async (step, inputs, stepSignal) => {
        const worker = pool[step.worker];
        if (!worker) throw new RangeError(`The plan names worker ${step.worker}, and the pool has ${pool.length}.`);
        const messages = workerMessages({ question, context, editsFiles: project !== undefined, inputs, subtask: step.subtask });
        const reply = await ask(worker, messages, sample, stepSignal);
        costUsd += reply.costUsd;
        usage = addUsage(usage, reply.usage);
        traces[step.index] = { worker: worker.id, subtask: step.subtask, reads: step.reads, output: reply.text, served: reply.served ?? false };
        endedAt[step.index] = Math.max(0, ...step.reads.map((read) => endedAt[read] ?? 0)) + reply.seconds;
        return reply.text;
      },
    });
    if (!result.ok) {
      signal.throwIfAborted();
      const said = result.error instanceof Error ? result.error.message : String(result.error);
      throw new PlanNotRunError(id, costUsd, said, { cause: result.error });
    }
    return { answer: result.answer, costUsd, usage, seconds: Math.max(0, ...endedAt), traces: [traces] };
  };
}

/** The same, and grades the answers. */
export function planRunner(ask: AskWorker): RunPlan {
  const execute = planExecutor(ask);
  return async (task, plan, options) => await gradeAnswer(task, await execute(task, plan, options), options.signal);
}
