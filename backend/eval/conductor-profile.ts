import type { PlanExample } from '../conductor/plan-examples.ts';
import type { PromptProfile } from '../conductor/prompt-profile.ts';
import { IN_DISTRIBUTION, OUT_OF_DISTRIBUTION } from '../conductor/question-examples.ts';
import type { ConductorSwitches } from './conductor-switches.ts';
import { EvaluationRequestError } from './evaluation/request-error.ts';

/** The profile of a Conductor's prompt as its switches have it. @param own the person's examples. @throws EvaluationRequestError */
export function profileWith(
  profile: PromptProfile, { examples, paperPrompt }: Pick<ConductorSwitches, 'examples' | 'paperPrompt'>, own: readonly PlanExample[] | undefined,
): PromptProfile {
  if (!examples && !paperPrompt) return profile;
  if (!profile.isInstructed) throw new EvaluationRequestError('The prompt of a model that was trained to write plans only has no examples and no other form: leave out +examples and +prompt.');
  if (examples === 'own' && !own) throw new EvaluationRequestError('+examples=own takes the examples of a file: --examples FILE.');
  const sets = { none: [], out: OUT_OF_DISTRIBUTION, in: IN_DISTRIBUTION, own: own ?? [] } as const;
  return {
    ...profile,
    // The paper's default is examples of other domains.
    examples: sets[examples ?? 'out'],
    ...(paperPrompt && { form: 'paper', version: 'paper-1' }),
  };
}
