import type { StepView } from '../protocol/run-snapshot.ts';
import { addUsage, NO_USAGE } from '../protocol/token-counts.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { Message } from '../workers/model.ts';
import { executePlan } from '../workflow/execute-plan.ts';
import { stepsOf, type Step } from '../workflow/plan.ts';
import { workerMessages } from '../workflow/worker-messages.ts';
import { type AskInTurns, rehearsedTurns, stepWithHands, type TurnMemory, viewOf } from './step-with-hands.ts';
import { gradeAnswer, PlanNotRunError, type ExecutePlan, type RunPlan, type Spent, type StepTrace, type WorkerReply } from './run-plan.ts';

/** One paid answer of a worker. `sample` is its seed, if the worker supports seeds. */
export type AskWorker = (worker: WorkerConfig, messages: readonly Message[], sample: number,
  signal: AbortSignal) => Promise<WorkerReply>;

/** What traces call a Conductor that does a step by a plan of its own. */
const SELF = 'self';

/** For steps of workers with hands, on tasks that have a place for them. */
export interface InTurns {
  readonly ask: AskInTurns;
  readonly memory?: TurnMemory | undefined;
}

/** Executes plans with Solve's executor and prompts. The caller supplies the worker calls. */
export function planExecutor(ask: AskWorker, inTurns?: InTurns): ExecutePlan {
  return async ({ id, question, context, project, hands }, plan, { pool, sample, signal, previousRound, moreContext = '', self }) => {
    const told = [context, moreContext].filter((part) => part !== '').join('\n\n');
    let costUsd = 0;
    let usage = NO_USAGE;
    const steps = stepsOf(plan);
    const traces: StepTrace[] = [];
    const within: (readonly StepTrace[])[] = [];
    const endedAt: number[] = [];
    const views = new Map<number, StepView>();
    const count = (step: Step, spent: Spent): void => {
      costUsd += spent.costUsd;
      usage = addUsage(usage, spent.usage);
      endedAt[step.index] = (endedAt[step.index] ?? Math.max(0, ...step.reads.map((read) => endedAt[read] ?? 0))) + spent.seconds;
    };
    const result = await executePlan({
      steps,
      finished: new Map(),
      signal,
      onSkipped: () => {},
      runStep: async (step, inputs, stepSignal) => {
        const { subtask, reads } = step;
        if (self && step.worker === pool.length) {
          const { answer: output, traces: inner, ...spent } = await self(step, inputs);
          count(step, spent);
          within.push(...inner);
          traces[step.index] = { worker: SELF, subtask, reads, output, served: false };
          return output;
        }
        const worker = pool[step.worker];
        if (!worker) throw new RangeError(`The plan names worker ${step.worker}, and the pool has ${pool.length}.`);
        const briefing = { question, context: told, editsFiles: project !== undefined, inputs, subtask, ...(step.readsPreviousRound && previousRound && { previousRound }) };
        if (hands === 'rehearsed' && worker.hands) return await rehearsedTurns(workerMessages(briefing), async (messages) => (await ask(worker, messages, sample, stepSignal)).text);
        if (hands && hands !== 'rehearsed' && inTurns && worker.hands) {
          const done = await stepWithHands(hands, {
            step, worker: { ...worker, hands: worker.hands }, question, pool, views, sample, signal: stepSignal, messages: (how) => workerMessages({ ...briefing, hands: how }),
            onSpent: (spent) => count(step, spent),
          }, inTurns.ask, inTurns.memory);
          views.set(step.index, done.view);
          traces[step.index] = { worker: worker.id, subtask, reads, output: done.output, served: done.served };
          return done.output;
        }
        const messages = workerMessages(briefing);
        const reply = await ask(worker, messages, sample, stepSignal);
        count(step, reply);
        traces[step.index] = { worker: worker.id, subtask, reads, output: reply.text, served: reply.served ?? false };
        views.set(step.index, viewOf(step, reply.text));
        return reply.text;
      },
    });
    if (!result.ok) {
      signal.throwIfAborted();
      const said = result.error instanceof Error ? result.error.message : String(result.error);
      throw new PlanNotRunError(id, costUsd, said, { cause: result.error });
    }
    return { answer: result.answer, costUsd, usage, seconds: Math.max(0, ...endedAt), traces: [traces, ...within] };
  };
}

/** The same, and grades the answers. */
export function planRunner(ask: AskWorker): RunPlan {
  const execute = planExecutor(ask);
  return async (task, plan, options) => await gradeAnswer(task, await execute(task, plan, options), options.signal);
}
