import { MAX_STEPS, type Plan } from '../../workflow/plan.ts';
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
  /** `mended` says what was changed to make sense of the plan, a sentence each; empty where nothing was. */
  | { readonly kind: 'plan'; readonly plan: Plan; readonly mended: readonly string[] };

export interface ReadPlanOptions extends ParseOptions {
  readonly question: string;
  readonly profile: Pick<PromptProfile, 'isInstructed'>;
  /** Whether the Conductor may be told what does not make sense and asked again; otherwise the nearest sensible plan is taken at once. */
  readonly mayAskAgain: boolean;
}

/** A rejection names at most this many things: with more, the plan is better written anew. */
const MOST_TOLD = 3;

export function readPlan(text: string, { question, profile, mayAskAgain, ...parsing }: ReadPlanOptions): ReadPlan {
  const parsed = parsePlan(text, parsing);
  if (parsed.kind !== 'plan') return parsed;
  const asked = readQuestion(question);
  const { round } = parsing;
  const steps = mostSteps(asked, round);
  if (!profile.isInstructed) return { kind: 'plan', plan: formedPlan(parsed.plan, asked, { round, steps }), mended: [] };
  const found = nonsenseIn(parsed.plan, asked, { steps, round });
  if (found.length === 0) return { kind: 'plan', plan: parsed.plan, mended: [] };
  const told = found.slice(0, MOST_TOLD).map(({ message }) => message);
  if (mayAskAgain) {
    return { kind: 'rejected', rejection: { reason: 'senseless', message: `The plan does not make sense for this question. ${told.join(' ')}` } };
  }
  return { kind: 'plan', plan: nearestPlan(parsed.plan, asked, found, { round, steps }), mended: told };
}

/** The most steps that a plan of this round may have. An answer that failed is worth more than the first try. */
export function mostSteps({ kind, wants, steps }: Pick<ReadQuestion, 'kind' | 'wants' | 'steps'>, round: number): number {
  if (round === 0 || kind === 'small-talk') return steps;
  return wants === 'words' ? Math.max(2, steps) : MAX_STEPS;
}
