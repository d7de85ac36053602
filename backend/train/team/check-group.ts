import type { GivenGroup, TeamTerms } from './team-messages.ts';

export interface GroupLimits extends Pick<TeamTerms['settings'], 'groupSize' | 'maxTokens'> {
  /** How many tokens there are. */
  readonly vocabulary: number;
  /** The most tokens of a prompt with its answer. */
  readonly contextLength: number;
}

/** Numbers of a group that are kept: token ids and log-probabilities. */
export const numbersIn = ({ prompts, completions }: GivenGroup): number =>
  prompts.reduce((sum, prompt) => sum + prompt.length, 0) + completions.reduce((sum, { tokens, logprobs }) => sum + tokens.length + logprobs.length, 0);

/**
 * Why a group cannot be one of this training; one sentence without an end. What a member says of its own tests is believed: whether an answer was right,
 * nobody else can know.
 */
export function groupProblem({ place, of, prompts, completions }: GivenGroup, { groupSize, maxTokens, vocabulary, contextLength }: GroupLimits): string | undefined {
  if (place >= of) return `it is number ${place} of ${of}`;
  if (completions.length > groupSize) return `it has ${completions.length} plans where a group has ${groupSize}`;
  const isKnown = (token: number): boolean => token < vocabulary;
  if (!prompts.every((prompt) => prompt.every(isKnown))) return `a prompt has token ids that the model does not have (${vocabulary})`;
  for (const [index, { prompt, tokens, logprobs, outcome, expected }] of completions.entries()) {
    const before = prompts[prompt];
    if (!before) return `plan ${index} has no prompt`;
    if (tokens.length > maxTokens) return `plan ${index} has ${tokens.length} tokens, and ${maxTokens} are the most`;
    if (before.length + tokens.length > contextLength) return `plan ${index} with its prompt is longer than the model reads (${contextLength})`;
    if (!tokens.every(isKnown)) return `plan ${index} has token ids that the model does not have (${vocabulary})`;
    if (logprobs.length !== tokens.length) return `plan ${index} has ${logprobs.length} log-probabilities for ${tokens.length} tokens`;
    if (!outcome && !expected) return `plan ${index} has neither an outcome nor what is expected of it`;
  }
  return undefined;
}
