import type { Kind } from '../../simulator/families/family.ts';
import type { SkillRow } from '../../simulator/skills.ts';
import type { Want } from './wants/want.ts';

/*
 * All chosen (not measured) parameters of the gym. They were set before any training, so that on held-out tasks the best single worker of the
 * fixed pool is right 55 to 70 % of the time, random valid plans clearly less often, and an oracle clearly more often; see
 * test/lab/gym/balance.test.ts. All sums are in log-odds, so that probabilities stay between 0 and 1.
 */

export interface GymParameters {
  /** Of a kind's tasks, in the units of skill. */
  readonly difficulty: Readonly<Record<Kind, number>>;
  /** Log-odds for each point of skill above the difficulty. */
  readonly slope: number;
  /** Log-odds where skill and difficulty are equal. */
  readonly ease: { readonly plan: number; readonly write: number; readonly find: number; readonly repair: number };
  /** Effect of a visible plan on writing. */
  readonly planInView: { readonly right: number; readonly wrong: number };
  /**
   * Effect of a visible plan on checking: a reviewer that has read a wrong plan believes it, and misses and repeats its bug.
   */
  readonly planWhenChecking: { readonly right: number; readonly wrong: number };
  /** A subtask that does not say what to do. */
  readonly vague: number;
  /** Penalty for every 1,000 irrelevant visible characters, up to a limit in thousands. */
  readonly irrelevant: { readonly each: number; readonly most: number };
  /** Log-odds of finding bugs in the worker's own code and in others' code. */
  readonly finding: { readonly own: number; readonly others: number; readonly subtlety: number };
  /**
   * Probability of breaking correct code: a minimum, an increase for lack of skill, and a factor for the worker's own code.
   */
  readonly breaking: { readonly least: number; readonly lack: number; readonly own: number };
  /** Probability that a writer copies a visible attempt instead of writing. */
  readonly copying: number;
  /** Share of a worker's repeated attempts at a question with the same result: repeated attempts are correlated. */
  readonly habit: number;
  /** What differs where something else than a new function is asked for. */
  readonly wants: Readonly<Record<Want, WantNumbers>>;
  /** Hidden skill: by how much a worker is better or worse at a want than its skill in the subject says, at most. */
  readonly wantSpread: number;
  readonly hands: HandsNumbers;
}

/** A worker with hands runs what it wrote, and mends it where it sees it fail. docs/gym/hands.md has the reasons and their sources. */
export interface HandsNumbers {
  /** Log-odds of seeing a fault of medium subtlety by running the code, the weight of subtlety, and the share of skill in checking that counts. */
  readonly noticing: { readonly ease: number; readonly subtlety: number; readonly skill: number };
  /** Added to the log-odds of repairing a fault: it is seen to fail, and not only suspected. */
  readonly mending: number;
  /** How often an answer is mended at most. */
  readonly mends: number;
  /** Factor for the probability that correct code is considered wrong. */
  readonly doubting: number;
  /** Turns that look round before anything is written. */
  readonly looks: number;
  readonly tokens: {
    /** How hands are used, and the tools: sent with every turn. */
    readonly told: number;
    /** Of a call beside the code that it carries, and of the last message. */
    readonly call: number;
    /** Of what a call returns. */
    readonly result: number;
  };
}

export interface WantNumbers {
  /** Added to the difficulty of the subject. */
  readonly harder: number;
  /** The share of a visible plan's effect on writing: a reply gains nothing by a plan. */
  readonly byPlan: number;
  /** Added to the log-odds of finding a mistake in what others wrote. */
  readonly easeOfFinding: number;
  /** The share of faults that running something can show at all. */
  readonly byHands: number;
}

export const GYM_PARAMETERS: GymParameters = {
  difficulty: { strings: 0.45, numbers: 0.45, intervals: 0.6, data: 0.6, parsing: 0.84, machines: 0.84 },
  slope: 7,
  ease: { plan: 0.3, write: 0, find: 0.4, repair: -1 },
  planInView: { right: 3, wrong: -2 },
  planWhenChecking: { right: 0.2, wrong: -2 },
  vague: -1,
  irrelevant: { each: -1, most: 3 },
  finding: { own: -1.4, others: 0.5, subtlety: -1.5 },
  breaking: { least: 0.03, lack: 0.3, own: 0.35 },
  copying: 0.8,
  habit: 0.7,
  wants: {
    code: { harder: 0, byPlan: 1, easeOfFinding: 0, byHands: 1 },
    fix: { harder: -0.05, byPlan: 1, easeOfFinding: 0.3, byHands: 1 },
    feature: { harder: 0, byPlan: 1, easeOfFinding: 0, byHands: 1 },
    refactor: { harder: -0.1, byPlan: 0.3, easeOfFinding: 0.5, byHands: 1 },
    tests: { harder: 0, byPlan: 1, easeOfFinding: -1, byHands: 0.3 },
    explain: { harder: -0.45, byPlan: 0.2, easeOfFinding: -1.5, byHands: 0 },
    talk: { harder: -2, byPlan: 0, easeOfFinding: 0, byHands: 0 },
  },
  wantSpread: 0.1,
  hands: {
    noticing: { ease: 0.5, subtlety: -2, skill: 0.3 },
    mending: 0.7,
    mends: 2,
    doubting: 0.3,
    looks: 1,
    tokens: { told: 640, call: 40, result: 120 },
  },
};

export interface WorkerNumbers {
  readonly name: string;
  /** Skill in planning, writing and checking. */
  readonly usual: SkillRow;
  readonly special: Partial<Record<Kind, SkillRow>>;
  /** Dollars for a million tokens. */
  readonly price: { readonly inputPerMillion: number; readonly outputPerMillion: number };
}

/** The fixed training pool by ordinal: a planner, a generalist, a reviewer, and two cheap specialists. */
export const TRAINING_POOL_NUMBERS: readonly WorkerNumbers[] = [
  {
    name: 'sim-aspen',
    usual: [0.45, 0.5, 0.4],
    special: { parsing: [0.98, 0.62, 0.6], machines: [0.98, 0.62, 0.6], intervals: [0.45, 0.6, 0.5], data: [0.45, 0.58, 0.5] },
    price: { inputPerMillion: 4, outputPerMillion: 16 },
  },
  {
    name: 'sim-briar',
    usual: [0.45, 0.63, 0.45],
    special: { parsing: [0.55, 0.8, 0.5], machines: [0.55, 0.8, 0.5], intervals: [0.45, 0.65, 0.5], data: [0.45, 0.65, 0.5] },
    price: { inputPerMillion: 3, outputPerMillion: 12 },
  },
  {
    name: 'sim-clover',
    usual: [0.45, 0.5, 0.45],
    special: { parsing: [0.6, 0.66, 0.95], machines: [0.6, 0.66, 0.95], intervals: [0.45, 0.58, 0.9], data: [0.45, 0.58, 0.9] },
    price: { inputPerMillion: 2, outputPerMillion: 8 },
  },
  {
    name: 'sim-dahlia',
    usual: [0.4, 0.5, 0.45],
    special: { strings: [0.35, 0.97, 0.45], intervals: [0.4, 0.63, 0.5] },
    price: { inputPerMillion: 0.6, outputPerMillion: 2.4 },
  },
  {
    name: 'sim-elder',
    usual: [0.4, 0.5, 0.45],
    special: { numbers: [0.35, 0.97, 0.45], data: [0.4, 0.63, 0.5] },
    price: { inputPerMillion: 0.3, outputPerMillion: 1.2 },
  },
];
