/*
 * The probability that a simulated worker succeeds. The numbers are chosen, not measured: a specialist should solve an easy module alone,
 * a hard module should need a plan and a review, and the demo should sometimes fail. All sums are in log-odds, so that probabilities stay
 * between 0 and 1.
 */

/** Log-odds for each point of skill. */
const SKILL_SLOPE = 6;

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

export type PlanInView = 'right' | 'wrong' | 'none';

export interface Situation {
  /** Difficulty of the module and its bug, about 0 to 1. */
  readonly difficulty: number;
  readonly vague: boolean;
  /** Share of the module's lines that the worker can see, 0 to 1. */
  readonly sight: number;
  /** Visible characters that are unrelated to the module. */
  readonly irrelevantCharacters: number;
  readonly plan: PlanInView;
  /** Test feedback of an earlier round is visible. */
  readonly hasFeedback: boolean;
}

function circumstances({ vague, sight, irrelevantCharacters, hasFeedback }: Situation): number {
  return (hasFeedback ? 0.4 : 0) - (vague ? 1 : 0) - 2.5 * (1 - sight) - 1.2 * Math.min(1, irrelevantCharacters / 32_000);
}

const PLAN_EFFECT: Readonly<Record<PlanInView, number>> = { right: 2.2, wrong: -2.2, none: 0 };

/** Probability that a plan names the true cause. */
export function chanceOfRightPlan(skill: number, situation: Situation): number {
  return logistic(SKILL_SLOPE * (skill - 0.35 - 0.5 * situation.difficulty) + circumstances(situation));
}

/** Probability that written code is correct. */
export function chanceOfRightCode(skill: number, situation: Situation): number {
  return logistic(
    SKILL_SLOPE * (skill - 0.53 - 0.62 * situation.difficulty) + PLAN_EFFECT[situation.plan] + circumstances(situation),
  );
}

/** Probability that a review finds a bug. Authors miss their own bugs more often. */
export function chanceOfFindingFault(skill: number, subtlety: number, ownCode: boolean, situation: Situation): number {
  const plan = situation.plan === 'right' ? 0.5 : 0;
  return logistic(SKILL_SLOPE * (skill - 0.63) - 3 * subtlety + (ownCode ? -1.3 : 0.6) + plan + circumstances(situation));
}

/** Probability that a found bug is fixed: easier than writing, since its place is known. */
export function chanceOfRepair(skill: number, situation: Situation): number {
  return logistic(SKILL_SLOPE * (skill - 0.57 - 0.65 * situation.difficulty) + 0.6 + circumstances(situation));
}

/** Probability that a review breaks correct code (a false positive). */
export function chanceOfBreaking(skill: number, situation: Situation): number {
  return 0.03 + 0.2 * (1 - skill) * (0.5 + situation.difficulty);
}
