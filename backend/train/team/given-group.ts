import type { SampledCompletion } from '../engines/engine.ts';
import type { JudgedCompletion } from '../grpo/grpo-step.ts';
import type { RolloutOutcome } from '../grpo/reward.ts';
import type { GivenGroup } from './team-messages.ts';

/** A group as it leaves the machine that judged it: without the texts of its plans. Log-probabilities are at most 0, which rounding may pass. */
export function givenGroup(group: readonly JudgedCompletion[], where: Pick<GivenGroup, 'instance' | 'step' | 'version' | 'place' | 'of' | 'seconds'>): GivenGroup {
  const prompts: number[][] = [];
  const places = new Map<string, number>();
  const placeOf = ({ promptTokens }: SampledCompletion): number => {
    const key = promptTokens.join();
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, prompts.length);
    return prompts.push([...promptTokens]) - 1;
  };
  const completions = group.map(({ completion, outcome, expected, revised }) => ({
    prompt: placeOf(completion),
    tokens: [...completion.tokens],
    logprobs: completion.logprobs.map((logprob) => Math.min(0, logprob)),
    finishReason: completion.finishReason,
    ...(outcome && { outcome: leaving(outcome) }), ...(expected && { expected }), ...(revised && { revised: leaving(revised) }),
  }));
  return { ...where, prompts, completions };
}

/** What workers used stays here: only a comparison tells it, and each machine compares by itself. */
function leaving(outcome: RolloutOutcome): NonNullable<GivenGroup['completions'][number]['outcome']> {
  if (outcome.kind !== 'judged') return outcome;
  const { tokens: _, ...left } = outcome;
  return left;
}

/** What a batch is made of; the texts stayed where they were written. */
export function judgedGroup({ prompts, completions }: GivenGroup): JudgedCompletion[] {
  return completions.map(({ prompt, tokens, logprobs, finishReason, outcome, expected, revised }): JudgedCompletion => ({
    completion: { promptTokens: prompts[prompt] ?? [], tokens, logprobs, text: '', finishReason },
    outcome: outcome && (outcome.kind === 'judged' ? withPasses(outcome) : outcome),
    ...(expected && { expected }),
    ...(revised && { revised: revised.kind === 'judged' ? withPasses(revised) : revised }),
  }));
}

function withPasses<T extends { readonly passes?: boolean | undefined }>({ passes, ...outcome }: T): Omit<T, 'passes'> & { readonly passes?: boolean } {
  return { ...outcome, ...(passes !== undefined && { passes }) };
}
