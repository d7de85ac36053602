import type { ReadQuestion } from '../question/read-question.ts';
import { earlier, withoutStep, type ShapeStep } from './shape.ts';

/*
 * The nearest sensible shape: a plan is kept as it is as far as it makes sense for its question. Each rule follows from roles and access
 * and names what it mends; a rule that finds nothing changes nothing.
 */

export interface NearestShape {
  readonly steps: readonly ShapeStep[];
  /** What was mended, a sentence each; empty for a plan that makes sense as it is. */
  readonly mended: readonly string[];
}

type Rule = (steps: readonly ShapeStep[], limits: ShapeLimits) => { readonly steps: readonly ShapeStep[]; readonly why: string } | undefined;

export interface ShapeLimits extends Pick<ReadQuestion, 'wants'> {
  readonly steps: number;
}

/** A plan has at most five steps and each rule drops one or corrects one, so the rules soon find nothing. */
const MOST_RULES = 40;

export function nearestShape(steps: readonly ShapeStep[], limits: ShapeLimits): NearestShape {
  let now = steps;
  const mended: string[] = [];
  for (let turn = 0; turn < MOST_RULES; turn += 1) {
    const change = RULES.map((rule) => rule(now, limits)).find((found) => found !== undefined);
    if (!change) break;
    now = change.steps;
    if (!mended.includes(change.why)) mended.push(change.why);
  }
  return { steps: now, mended };
}

const replaced = (steps: readonly ShapeStep[], at: number, change: Partial<ShapeStep>): ShapeStep[] =>
  steps.map((step, index) => (index === at ? { ...step, ...change } : step));
const isRead = (steps: readonly ShapeStep[], at: number): boolean => steps.some(({ reads }) => reads.includes(at));
const wrote = ({ role }: ShapeStep): boolean => role !== 'plan';

/** The answer is the last step's output, so it is no note for others. */
const lastStepAnswers: Rule = (steps) => {
  const last = steps.length - 1;
  if (steps[last]?.role !== 'plan') return undefined;
  const why = 'The last step answers the question.';
  if (steps.some(wrote)) return { steps: withoutStep(steps, last), why };
  return { steps: replaced(steps, last, { role: 'write', ...(last > 0 && steps[last].reads.length === 0 && { reads: earlier(last) }) }), why };
};

/** Whoever checks is shown what was written; where nothing was, there is nothing to check. */
const checksAreShownWork: Rule = (steps) => {
  const at = steps.findIndex(({ role, reads }) => role === 'check' && !reads.some((read) => wrote(steps[read] as ShapeStep)));
  if (at < 0) return undefined;
  const work = earlier(at).filter((index) => wrote(steps[index] as ShapeStep));
  if (work.length === 0) return { steps: replaced(steps, at, { role: 'write' }), why: 'A step that is shown no work writes it.' };
  return { steps: replaced(steps, at, { reads: [...new Set([...(steps[at] as ShapeStep).reads, ...work])].sort((a, b) => a - b) }), why: 'A step that checks is shown the work.' };
};

/** No step is paid for that nobody reads: it is given to the next step that can use it, else left out. */
const stepsAreRead: Rule = (steps) => {
  const last = steps.length - 1;
  const at = steps.findIndex((_, index) => index < last && !isRead(steps, index));
  if (at < 0) return undefined;
  const { role } = steps[at] as ShapeStep;
  const user = steps.findIndex((step, index) => index > at && (role === 'plan' ? step.role === 'write' : step.role === 'check'));
  if (user < 0) return { steps: withoutStep(steps, at), why: 'A step that nobody reads is left out.' };
  return { steps: replaced(steps, user, { reads: [...(steps[user] as ShapeStep).reads, at].sort((a, b) => a - b) }), why: 'What a step hands on is read.' };
};

/** No more steps than the question is worth. */
const stepsAreFew: Rule = (steps, { steps: most, wants }) => {
  if (steps.length <= most) return undefined;
  const why = most === 1 ? 'One step is enough for this question.' : `The question is worth ${most} steps at most.`;
  return { steps: withoutStep(steps, leastNeeded(steps, wants)), why };
};

/** Checks of checks go first, then further notes and further attempts, then for words the check and for code the notes. Never whoever answers. */
function leastNeeded(steps: readonly ShapeStep[], wants: ShapeLimits['wants']): number {
  const of = (role: ShapeStep['role']): number[] => steps.flatMap((step, index) => (step.role === role ? [index] : []));
  const [plans, writes, checks] = [of('plan'), of('write'), of('check')];
  if (checks.length > 1) return checks[0] as number;
  if (plans.length > 1) return plans.at(-1) as number;
  if (writes.length > 1) return writes[0] as number;
  const [plan, write, check] = [plans[0], writes[0], checks[0]];
  const order = wants === 'words' ? [check, plan, write] : [plan, check, write];
  return order.find((at) => at !== undefined) ?? 0;
}

const RULES: readonly Rule[] = [lastStepAnswers, stepsAreFew, checksAreShownWork, stepsAreRead];
