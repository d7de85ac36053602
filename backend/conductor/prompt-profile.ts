import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { Plan } from '../workflow/plan.ts';

/** A worked example: a question, the reasoning, and the plan. */
export interface PlanExample {
  readonly question: string;
  readonly reasoning: string;
  readonly plan: Plan;
}

/**
 * How detailed the Conductor's prompt is. Large models profit from details; small ones get lost in them. The version is part of every
 * cache key: change it with every change of the wording.
 */
export interface PromptProfile {
  readonly name: 'standard' | 'compact' | 'mini';
  readonly version: string;
  /** Whether the prompt explains what a plan is. A model that was trained to write plans only does not need that. */
  readonly isInstructed: boolean;
  readonly examples: readonly PlanExample[];
  /** Characters of the question that are shown. */
  readonly questionCharacters: number;
  /** Characters of the context that are shown. Workers see all of it. */
  readonly contextCharacters: number;
  /** Characters of an earlier answer, and of its feedback, that are shown. */
  readonly answerCharacters: number;
}

/*
 * The examples are deliberately not about code: in the paper, examples from other domains taught the form without suggesting a plan
 * (arXiv 2512.04388 Table 4). They differ in the number of steps, the workers and the access lists.
 */
const EXAMPLES: readonly PlanExample[] = [
  {
    question: 'A ferry leaves every 40 minutes from 06:10, the last at 21:30. How many crossings is that, and when is the one before last?',
    reasoning:
      'This is short arithmetic that one careful worker can do alone; a second look would cost more than it brings. Worker 1 is described ' +
      'as exact with numbers.',
    plan: {
      modelIds: [1],
      subtasks: ['Work out the number of crossings and the time of the one before last. Show each step and state both results at the end.'],
      accessList: [[]],
    },
  },
  {
    question: 'Our bakery\'s sourdough has become flat and dense since we moved to the new kitchen. What should we change first?',
    reasoning:
      'There are several possible causes, so I want them found before anybody proposes a change. Two workers look independently, ' +
      'without seeing each other, so that they do not share a blind spot. A third one weighs both and gives the answer.',
    plan: {
      modelIds: [0, 2, 1],
      subtasks: [
        'List the causes that a change of kitchen can have on a sourdough, most likely first, each with a test that tells it from the others.',
        'Think as a baker with twenty years of practice: which single thing most often makes bread dense after a move, and how would you notice?',
        'Compare the two lists of causes, keep what both support or what is tested most cheaply, and answer in order what to change first and why.',
      ],
      accessList: [[], [], 'all'],
    },
  },
  {
    question: 'Translate our safety leaflet into plain language for visitors. It must keep every prohibition.',
    reasoning:
      'The risk is that a prohibition gets lost in simpler words. So first the prohibitions are listed, then the leaflet is rewritten with ' +
      'that list in view, and a different worker checks the text against the list and mends what is missing.',
    plan: {
      modelIds: [2, 0, 1],
      subtasks: [
        'List every prohibition and duty in the leaflet, one a line, without leaving out or merging any.',
        'Rewrite the leaflet in short, plain sentences for visitors. Keep every item of the list you are shown.',
        'Check the rewritten leaflet against the list item by item, add or correct what is missing or weakened, and return the final leaflet whole.',
      ],
      accessList: [[], [0], 'all'],
    },
  },
];

const WHOLE = { questionCharacters: Number.POSITIVE_INFINITY };

export const PROMPT_PROFILES = {
  standard: {
    name: 'standard', version: 'standard-2', isInstructed: true, examples: EXAMPLES, ...WHOLE, contextCharacters: 16_000, answerCharacters: 12_000,
  },
  compact: {
    name: 'compact', version: 'compact-2', isInstructed: true, examples: EXAMPLES.slice(1, 2), ...WHOLE, contextCharacters: 3_000, answerCharacters: 3_000,
  },
  /** For conductor-mini, which was trained on this form (backend/lab/mini). It is short because a CPU reads it. */
  mini: {
    name: 'mini', version: 'mini-3', isInstructed: false, examples: [],
    questionCharacters: 480, contextCharacters: 120, answerCharacters: 160,
  },
} as const satisfies Record<string, PromptProfile>;

/** The profile of a worker that plans. Models of this machine are small: by default they get the compact prompt. */
export function profileOf({ provider, promptProfile }: Pick<WorkerConfig, 'provider'> & Partial<Pick<WorkerConfig, 'promptProfile'>>): PromptProfile {
  return PROMPT_PROFILES[promptProfile ?? (provider === 'local' ? 'compact' : 'standard')];
}
