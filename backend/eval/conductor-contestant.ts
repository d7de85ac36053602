import { conductorPrompt } from '../conductor/conductor-prompt.ts';
import { parsePlan } from '../conductor/parse-plan.ts';
import { planGrammar } from '../conductor/plan-grammar.ts';
import type { PromptProfile } from '../conductor/prompt-profile.ts';
import type { LanguageModel } from '../lm/language-model.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { draw } from '../train/draws.ts';
import type { Plan } from '../workflow/plan.ts';
import type { Contestant } from './contestants.ts';
import type { EvalTask, PlanOutcome } from './run-plan.ts';

export interface ConductorContestantOptions {
  readonly name: string;
  readonly model: Pick<LanguageModel, 'write'>;
  readonly profile: PromptProfile;
  readonly pool: readonly Pick<WorkerConfig, 'description'>[];
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** 1 where absent, the model's own distribution; 0 for the plan that it finds most likely. */
  readonly temperature?: number;
  /** Lets it write nothing but plans. */
  readonly constrained?: boolean;
  /** Told of every text the plan that it is, or that it is none. */
  readonly onPlan?: ((task: EvalTask, plan: Plan | undefined) => void) | undefined;
}

/** Of a task to which no plan was written. */
const UNANSWERED: PlanOutcome = { verified: false, score: 0, costUsd: 0, answer: '' };

/** A Conductor that writes one plan a task; what is no plan answers nothing. */
export function conductorContestant(options: ConductorContestantOptions): Contestant {
  const { name, model, profile, pool, maxTokens, signal, temperature = 1, constrained = false, onPlan } = options;
  return {
    name,
    answer: async (task, play, seed) => {
      const { question, context } = task;
      const { messages, prefill } = conductorPrompt({ question, context, pool, rounds: [] }, profile);
      const [written] = await model.write({
        messages: messages.map(({ role, content }) => ({ role, content })), prefill, samples: 1, maxTokens, temperature,
        seeds: [draw(seed, 'contestant', task.id)], signal,
        ...(constrained && { grammar: planGrammar({ workers: pool.length, revision: false, prefill }) }),
      });
      const parsed = parsePlan(written?.text ?? '', { workerCount: pool.length, round: 0, truncated: written?.finishReason === 'length' });
      const plan = parsed.kind === 'plan' ? parsed.plan : undefined;
      onPlan?.(task, plan);
      return plan ? await play(plan, 0) : UNANSWERED;
    },
  };
}

/** Plans that were written before, by id of their task, with something about them changed. */
export function changedPlans(name: string, plans: ReadonlyMap<string, Plan>, change: (plan: Plan) => Plan): Contestant {
  return {
    name,
    answer: async ({ id }, play) => {
      const plan = plans.get(id);
      return plan ? await play(change(plan), 0) : UNANSWERED;
    },
  };
}
