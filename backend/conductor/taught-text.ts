import { roleOfStep, type StepRole } from '../protocol/step-role.ts';
import type { Plan } from '../workflow/plan.ts';
import type { PromptProfile } from './prompt-profile.ts';
import { renderPlan } from './render-plan.ts';

/*
 * A plan in the text of a Conductor that is to learn it from another one, or from a person: in the form in which it writes plans itself.
 */

/** What a Conductor is taught to write after its prompt, and the part of it that decides who does what. */
export interface TaughtText {
  readonly text: string;
  /** Characters of the text from 0. What stands before is given when the part is judged. */
  readonly decision: { readonly from: number; readonly to: number };
}

/** @param prefill how the reply begins; it is no part of the text */
export function taughtText(plan: Plan, profile: Pick<PromptProfile, 'isInstructed'>): TaughtText {
  return profile.isInstructed ? ownText(`\n\n${renderPlan(plan)}`, profile) : ownText(miniText(plan), profile);
}

/** The text that such a Conductor sampled itself, without its prefill. */
export function ownText(text: string, { isInstructed }: Pick<PromptProfile, 'isInstructed'>): TaughtText {
  return { text, decision: isInstructed ? workersIn(text) : uptoWorkers(text) };
}

/** The list of workers: words differ from Conductor to Conductor, and reasoning comes before it. */
function workersIn(text: string): TaughtText['decision'] {
  const list = /model_id\s*[:=]\s*\[[^\]]*\]/.exec(text);
  return list ? { from: list.index, to: list.index + list[0].length } : { from: 0, to: text.length };
}

/** conductor-mini names shape and workers before its lists, and copies them into these: a copy that went wrong would show in the first list alone. */
const uptoWorkers = (text: string): TaughtText['decision'] => ({ from: 0, to: workersIn(text).to });

/**
 * In the form that conductor-mini was taught (backend/lab/mini/plans.ts): a reason, the role and worker of each step, and the lists. Who works in
 * which role and who reads whom is the plan's; words are replaced when the plan is carried out, so these are the same for every plan.
 */
function miniText({ modelIds, subtasks, accessList }: Plan): string {
  const roles = subtasks.map(roleOfStep);
  const steps = roles.map((role, index) => `${role}${modelIds[index]}`).join(', ');
  const words = roles.map((role, index) => wordsOf(role, sourcesOf(roles, index, accessList[index] ?? [])));
  return `${reasonOf(roles)} Steps: ${steps}.\n\n${renderPlan({ modelIds, subtasks: words, accessList })}`;
}

const REASONS: Readonly<Record<string, string>> = {
  'write': 'One worker can do this alone.',
  'plan write': 'First the cause, then the change.',
  'write check': 'One writes, another checks.',
  'plan write check': 'Plan, write, check.',
  'write write check': 'Two try it, and one judges.',
  'write check check': 'One writes and two check.',
  'write write write check': 'Three try it, and one judges.',
  'plan write write check': 'One plan, two attempts, one judge.',
  'plan write check check': 'Plan, write, and check twice.',
  'plan plan write check': 'Two plans, one author, one review.',
};

function reasonOf(roles: readonly StepRole[]): string {
  const known = REASONS[roles.join(' ')];
  if (known !== undefined) return known;
  return roles.includes('plan') ? 'A plan first, then the code.' : 'Many attempts, and the best is chosen.';
}

/** The roles of the steps that a step reads. */
function sourcesOf(roles: readonly StepRole[], index: number, access: Plan['accessList'][number]): StepRole[] {
  return roles.slice(0, index).filter((_, earlier) => access === 'all' || access.includes(earlier));
}

/** Each is read back as its role. */
function wordsOf(role: StepRole, sources: readonly StepRole[]): string {
  switch (role) {
    case 'plan': return 'Plan the work: name the cause and say what to do.';
    case 'write': return sources.includes('plan') ? 'Write the change as the plan says; return the whole file.' : 'Write the change and return the whole file.';
    case 'check': return sources.filter((source) => source !== 'plan').length > 1 ? 'Compare the attempts and return the best one whole.' : 'Review it for edge cases and return the final file.';
  }
}
