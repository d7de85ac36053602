import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { Message } from '../workers/model.ts';
import { BUG, EXPLANATION, FEATURE, OTHER_DOMAIN, REVIEW, THANKS, type PlanExample } from './plan-examples.ts';

/** A Conductor's prompt, in any form. */
export interface ConductorPrompt {
  readonly messages: readonly Message[];
  /** How the reply begins: continued exactly, or requested at the end of the user's turn. */
  readonly prefill: string;
}

/**
 * How detailed the Conductor's prompt is. Large models profit from details; small ones get lost in them. The version is part of every
 * cache key: change it with every change of the wording.
 */
export interface PromptProfile {
  readonly name: 'standard' | 'compact' | 'mini' | 'mini-hands';
  readonly version: string;
  /** Whether the prompt explains what a plan is. A model that was trained to write plans only does not need that. */
  readonly isInstructed: boolean;
  /** The paper's own form of the prompt instead of ours; see `paper-prompt.ts`. */
  readonly form?: 'paper' | undefined;
  readonly examples: readonly PlanExample[];
  /** Whether a digest of the workers says who has hands. Models that read descriptions are always told. */
  readonly digestsHands: boolean;
  /** Characters of the question that are shown. */
  readonly questionCharacters: number;
  /** Characters of the context that are shown. Workers see all of it. */
  readonly contextCharacters: number;
  /** Characters of an earlier answer, and of its feedback, that are shown. */
  readonly answerCharacters: number;
}

const WHOLE = { questionCharacters: Number.POSITIVE_INFINITY, digestsHands: true };

const MINI = { isInstructed: false, examples: [], questionCharacters: 480, contextCharacters: 120, answerCharacters: 160 } as const;

export const PROMPT_PROFILES = {
  standard: {
    name: 'standard', version: 'standard-3', isInstructed: true, examples: [EXPLANATION, OTHER_DOMAIN, BUG, THANKS, REVIEW, FEATURE], ...WHOLE, contextCharacters: 16_000, answerCharacters: 12_000,
  },
  compact: {
    name: 'compact', version: 'compact-3', isInstructed: true, examples: [EXPLANATION, BUG], ...WHOLE, contextCharacters: 3_000, answerCharacters: 3_000,
  },
  /** For conductor-mini, which was trained on this form (backend/lab/mini). It is short because a CPU reads it. */
  mini: { name: 'mini', version: 'mini-3', digestsHands: false, ...MINI },
  /** The same, for a model that has also learned who has hands. Without workers that have hands, the prompts are equal. */
  'mini-hands': { name: 'mini-hands', version: 'mini-hands-1', digestsHands: true, ...MINI },
} as const satisfies Record<string, PromptProfile>;

/** The profile of a worker that plans. Models of this machine are small: by default they get the compact prompt, at a server as well. */
export function profileOf({ provider, served, promptProfile }: Pick<WorkerConfig, 'provider'> & Partial<Pick<WorkerConfig, 'served' | 'promptProfile'>>): PromptProfile {
  return PROMPT_PROFILES[promptProfile ?? (provider === 'local' || served ? 'compact' : 'standard')];
}
