import { conductorPrompt } from '../../conductor/conductor-prompt.ts';
import { parsePlan } from '../../conductor/parse-plan.ts';
import type { PromptProfile } from '../../conductor/prompt-profile.ts';
import type { LanguageModel } from '../../lm/language-model.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { draw } from '../../train/draws.ts';
import type { Contestant } from './contestants.ts';

export interface ConductorContestantOptions {
  readonly name: string;
  readonly model: Pick<LanguageModel, 'write'>;
  readonly profile: PromptProfile;
  readonly pool: readonly Pick<WorkerConfig, 'description'>[];
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** Told of every text whether it is a plan. */
  readonly onText?: ((isPlan: boolean) => void) | undefined;
}

/** A Conductor that writes one plan a task, at temperature 1 and without constraint; what is no plan answers nothing. */
export function conductorContestant({ name, model, profile, pool, maxTokens, signal, onText }: ConductorContestantOptions): Contestant {
  return {
    name,
    answer: async (task, play, seed) => {
      const { question, context } = task;
      const { messages, prefill } = conductorPrompt({ question, context, pool, rounds: [] }, profile);
      const [written] = await model.write({
        messages: messages.map(({ role, content }) => ({ role, content })), prefill, samples: 1, maxTokens, temperature: 1,
        seeds: [draw(seed, 'contestant', task.id)], signal,
      });
      const parsed = parsePlan(written?.text ?? '', { workerCount: pool.length, round: 0, truncated: written?.finishReason === 'length' });
      const plan = parsed.kind === 'plan' ? parsed.plan : undefined;
      onText?.(plan !== undefined);
      return plan ? await play(plan, 0) : { verified: false, score: 0, costUsd: 0, answer: '' };
    },
  };
}
