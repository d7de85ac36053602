import type { PlanMend } from '../../protocol/plan-mend.ts';
import { MAX_STEPS, stepsOf, type Plan } from '../../workflow/plan.ts';
import { parsePlan, type ParsedPlan, type ParseOptions } from '../parse-plan.ts';
import type { PromptProfile } from '../prompt-profile.ts';
import { readQuestion, type ReadQuestion } from '../question/read-question.ts';
import { formedPlan } from './form-plan.ts';
import { nearestPlan } from './nearest-plan.ts';
import { nonsenseIn } from './plan-sense.ts';

/*
 * From a Conductor's text to the plan that is carried out. Solve, rollouts of a training and evaluations all read plans here.
 *
 *     text → three lists → by the profile: forms for conductor-mini, or the check of sense → plan
 */

export type ReadPlan =
  | Exclude<ParsedPlan, { readonly kind: 'plan' }>
  /** `mended`: the plan that was written made no sense, and this is the nearest one that does. */
  | { readonly kind: 'plan'; readonly plan: Plan; readonly mended?: PlanMend };

export interface ReadPlanOptions extends ParseOptions {
  readonly question: string;
  /** There is a project whose code may be changed. */
  readonly inProject?: boolean;
  readonly profile: Pick<PromptProfile, 'isInstructed'>;
  /** Whether the Conductor may be told what does not make sense and asked again; otherwise the nearest sensible plan is taken at once. */
  readonly mayAskAgain: boolean;
}

/** A rejection names at most this many things: with more, the plan is better written anew. */
const MOST_TOLD = 3;

export function readPlan(text: string, { question, inProject = false, profile, mayAskAgain, ...parsing }: ReadPlanOptions): ReadPlan {
  const parsed = parsePlan(text, parsing);
  if (parsed.kind !== 'plan') return parsed;
  const asked = readQuestion(question, { inProject });
  const { round } = parsing;
  const steps = mostSteps(asked, round);
  if (!profile.isInstructed) return { kind: 'plan', plan: formedPlan(parsed.plan, asked, { round, steps }) };
  const found = nonsenseIn(parsed.plan, asked, { steps, round });
  if (found.length === 0) return { kind: 'plan', plan: parsed.plan };
  const told = found.slice(0, MOST_TOLD);
  if (mayAskAgain) {
    const message = `The plan does not make sense for this question. ${told.map((one) => one.message).join(' ')}`;
    return { kind: 'rejected', rejection: { reason: 'senseless', message } };
  }
  const plan = nearestPlan(parsed.plan, asked, found, { round, steps });
  return { kind: 'plan', plan, mended: { wrong: told.map(({ rule, step }) => ({ rule, ...(step !== undefined && { step }) })), ...changesFrom(parsed.plan, plan) } };
}

/** What a person has to know of the difference between the plan that was written and the one that was taken. */
function changesFrom(written: Plan, taken: Plan): Omit<PlanMend, 'wrong'> {
  const [before, now] = [stepsOf(written), stepsOf(taken)];
  const numbered = (isChanged: (step: typeof now[number]) => boolean): number[] => now.filter(isChanged).map(({ index }) => index);
  return {
    written: before.length,
    reworded: numbered(({ subtask }) => !written.subtasks.includes(subtask)),
    rewired: before.length === now.length ? numbered(({ index, reads }) => reads.join() !== before[index]?.reads.join()) : [],
  };
}

/** The most steps that a plan of this round may have. An answer that failed is worth more than the first try. */
export function mostSteps({ kind, wants, steps }: Pick<ReadQuestion, 'kind' | 'wants' | 'steps'>, round: number): number {
  if (round === 0 || kind === 'small-talk') return steps;
  return wants === 'words' ? Math.max(2, steps) : MAX_STEPS;
}
