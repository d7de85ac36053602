/*
 * How likely a simulated worker is to succeed. The numbers are chosen, not measured: a specialist should get an easy
 * module right alone, a hard one should need a plan and a second look, and the demo should fail now and then. All sums are
 * in log-odds, so that no combination leaves 0 to 1.
 */

/** Log-odds for each point of skill. */
const SKILL_SLOPE = 6;

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

export type PlanInView = 'right' | 'wrong' | 'none';

export interface Situation {
  /** Of the module and of the bug in it, about 0 to 1. */
  readonly difficulty: number;
  readonly vague: boolean;
  /** Share of the module's lines that the worker can see, 0 to 1. */
  readonly sight: number;
  /** Characters in view that have nothing to do with the module. */
  readonly irrelevantCharacters: number;
  readonly plan: PlanInView;
  /** Tests of an earlier round said what failed. */
  readonly hasFeedback: boolean;
}

function circumstances({ vague, sight, irrelevantCharacters, hasFeedback }: Situation): number {
  return (hasFeedback ? 0.4 : 0) - (vague ? 1 : 0) - 2.5 * (1 - sight) - 1.2 * Math.min(1, irrelevantCharacters / 32_000);
}

const PLAN_EFFECT: Readonly<Record<PlanInView, number>> = { right: 2.2, wrong: -2.2, none: 0 };

/** That a plan names the true cause. */
export function chanceOfRightPlan(skill: number, situation: Situation): number {
  return logistic(SKILL_SLOPE * (skill - 0.35 - 0.5 * situation.difficulty) + circumstances(situation));
}

/** That the code written is correct. */
export function chanceOfRightCode(skill: number, situation: Situation): number {
  return logistic(
    SKILL_SLOPE * (skill - 0.53 - 0.62 * situation.difficulty) + PLAN_EFFECT[situation.plan] + circumstances(situation),
  );
}

/** That a fault in code under review is noticed. One overlooks one's own faults more easily. */
export function chanceOfFindingFault(skill: number, subtlety: number, ownCode: boolean, situation: Situation): number {
  const plan = situation.plan === 'right' ? 0.5 : 0;
  return logistic(SKILL_SLOPE * (skill - 0.63) - 3 * subtlety + (ownCode ? -1.3 : 0.6) + plan + circumstances(situation));
}

/** That a fault which was found is repaired: easier than writing, since it is known where to look. */
export function chanceOfRepair(skill: number, situation: Situation): number {
  return logistic(SKILL_SLOPE * (skill - 0.57 - 0.65 * situation.difficulty) + 0.6 + circumstances(situation));
}

/** That correct code is taken for faulty and broken. */
export function chanceOfBreaking(skill: number, situation: Situation): number {
  return 0.03 + 0.2 * (1 - skill) * (0.5 + situation.difficulty);
}
