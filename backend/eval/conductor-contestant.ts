import { planRequest } from '../conductor/plan-request.ts';
import type { PoolEntry } from '../conductor/prompt-input.ts';
import { readPlan } from '../conductor/plan/read-plan.ts';
import { profileOf } from '../conductor/prompt-profile.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { draw } from '../train/statistics/draws.ts';
import type { ModelAdapter } from '../workers/model.ts';
import type { Plan } from '../workflow/plan.ts';
import type { Contestant } from './contestant.ts';
import { UNANSWERED, type EvalTask } from './run-plan.ts';

export interface ConductorContestantOptions {
  readonly name: string;
  /** The planning worker and its model. */
  readonly planner: WorkerConfig;
  readonly model: ModelAdapter;
  readonly pool: readonly PoolEntry[];
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** Default 1, the model's own distribution; 0 for greedy decoding. */
  readonly temperature?: number;
  /** Constrains decoding to valid plans. */
  readonly constrained?: boolean;
  /** Called for each sampled text with its parsed plan, or undefined where it does not parse. */
  readonly onPlan?: ((task: EvalTask, plan: Plan | undefined) => void) | undefined;
}

/** A Conductor that writes one plan for each task. An invalid plan counts as a wrong answer. */
export function conductorContestant(options: ConductorContestantOptions): Contestant {
  const { name, planner, model, pool, maxTokens, signal, temperature = 1, constrained = false, onPlan } = options;
  return {
    name,
    answer: async (task, play, seed) => {
      const { question, context } = task;
      const sampling = { temperature, maxTokens, constrained, seed: draw(seed, 'contestant', task.id) };
      const { text, finishReason } = await model.stream(planRequest(planner, { question, context, pool, rounds: [] }, sampling), {
        signal, onText: () => {}, onThinking: () => {}, onActivity: () => {},
      });
      const parsed = readPlan(text, {
        workerCount: pool.length, round: 0, truncated: finishReason === 'length', question, profile: profileOf(planner), mayAskAgain: false,
      });
      const plan = parsed.kind === 'plan' ? parsed.plan : undefined;
      onPlan?.(task, plan);
      return plan ? await play(plan, 0) : UNANSWERED;
    },
  };
}

/** Modified versions of plans written earlier, by task id. */
export function changedPlans(name: string, plans: ReadonlyMap<string, Plan>, change: (plan: Plan) => Plan): Contestant {
  return {
    name,
    answer: async ({ id }, play) => {
      const plan = plans.get(id);
      return plan ? await play(change(plan), 0) : UNANSWERED;
    },
  };
}
