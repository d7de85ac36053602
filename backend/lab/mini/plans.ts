import { renderPlan } from '../../conductor/render-plan.ts';
import { type DigestRole, digestOf, type WorkerDigest } from '../../conductor/worker-digest.ts';
import type { Dice } from './dice.ts';
import type { MadeWorker } from './pools.ts';
import type { MadeQuestion, Want } from './questions.ts';

type Plan = Parameters<typeof renderPlan>[0];
type Access = Plan['accessList'][number];

/** Roles of steps. Each role's subtasks begin with its word. */
type Task = 'alone' | 'plan' | 'write' | 'check' | 'judge' | 'vague';

/** The role's name in the workers' digest. */
const ROLE_OF: Readonly<Record<Task, DigestRole>> = { alone: 'write', plan: 'plan', write: 'write', check: 'check', judge: 'check', vague: 'write' };

/** Plan shapes and their probabilities. They do not rank shapes: training has to find the good ones. */
const SHAPES: readonly { readonly share: number; readonly tasks: readonly Task[]; readonly reasons: readonly string[] }[] = [
  { share: 16, tasks: ['alone'], reasons: ['One worker can do this alone.', 'This is small: a single step will do.', 'One step, done by whoever fits best.'] },
  { share: 3, tasks: ['vague'], reasons: ['One worker can do this alone.', 'I hand the question on.'] },
  { share: 14, tasks: ['plan', 'write'], reasons: ['First the cause, then the change.', 'Whoever writes should know what to change.', 'A plan first, then the code.'] },
  { share: 14, tasks: ['alone', 'check'], reasons: ['One writes, another checks.', 'The code is written and then reviewed.', 'An author overlooks his own mistakes, so somebody else checks.'] },
  { share: 15, tasks: ['plan', 'write', 'check'], reasons: ['First the cause, then the change, then a check.', 'Plan, write, check.', 'Three steps: think, write, review.'] },
  { share: 7, tasks: ['alone', 'alone', 'judge'], reasons: ['Two try it, and one judges.', 'Two attempts and a judge.', 'Independent attempts fail in different places.'] },
  { share: 3, tasks: ['alone', 'check', 'check'], reasons: ['One writes and two check.', 'Two reviews, since cases are easily missed.'] },
  { share: 8, tasks: ['alone', 'alone', 'alone', 'judge'], reasons: ['Three try it, and one judges.', 'Three attempts and a judge.', 'No worker stands out, so several try.'] },
  { share: 6, tasks: ['plan', 'write', 'write', 'judge'], reasons: ['One plan, two attempts, one judge.', 'Two follow the plan, and the better one is kept.'] },
  { share: 5, tasks: ['plan', 'write', 'check', 'check'], reasons: ['Plan, write, and check twice.', 'This is hard: a plan, the code, and two reviews.'] },
  { share: 4, tasks: ['plan', 'plan', 'write', 'check'], reasons: ['Two look for the cause before anybody writes.', 'Two plans, one author, one review.'] },
  { share: 4, tasks: ['plan', 'write', 'check', 'write', 'check'], reasons: ['Write, review, mend, and review again.', 'Two turns of writing and checking.'] },
  { share: 3, tasks: ['alone', 'alone', 'alone', 'alone', 'judge'], reasons: ['Four attempts and a judge.', 'Many attempts, and the best is chosen.'] },
  { share: 3, tasks: ['plan', 'plan', 'write', 'write', 'judge'], reasons: ['Two plans, two attempts, one judge.', 'Two teams, and one who decides.'] },
  { share: 4, tasks: ['plan', 'write', 'write', 'write', 'judge'], reasons: ['One plan, three attempts, one judge.', 'Three follow the plan, and the best is kept.'] },
];

const REVISION_REASONS = ['The tests failed: with what they said in view, another attempt.', 'The answer was wrong, so it is corrected.', 'What the tests said shows what to change.', 'Another try, with the feedback in view.'];
const KEEP_REASONS = ['The tests pass, so the answer stays.', 'There is nothing left to correct.', 'I keep the answer.', 'The answer stays as it is.'];

/** The result of a step, by kind of question. */
const MADE: Readonly<Record<Want, readonly string[]>> = {
  fix: ['the fix', 'the corrected code', 'the correction', 'the corrected file'],
  feature: ['the function', 'the code', 'the complete code', 'the implementation'],
  refactoring: ['the new code', 'the refactored code', 'the change', 'the file'],
  explanation: ['the answer', 'the explanation', 'a clear explanation'],
  speed: ['the faster version', 'the faster code', 'the change'],
  tests: ['the tests', 'the test file', 'the complete tests'],
};
const TROUBLE: Readonly<Record<Want, readonly string[]>> = {
  fix: ['the bug', 'the fault', 'the cause', 'the wrong line'],
  feature: ['the cases', 'the edge cases', 'the algorithm', 'the rules'],
  refactoring: ['the parts', 'the duplication', 'what must not change'],
  explanation: ['the parts', 'what it does', 'the order of events'],
  speed: ['the slow part', 'the bottleneck', 'the algorithm'],
  tests: ['the cases', 'the edge cases', 'what is not covered'],
};
const SUBTASKS: Readonly<Record<Task, readonly string[]>> = {
  alone: ['Write {made} and return the whole file.', 'Write {made}. Give the full file with its path.', 'Produce {made}, complete, with its path.', 'Implement it and return {made} in full.', 'Give {made}; keep the exported names.'],
  plan: ['Find {trouble} and write a short plan. No code.', 'Analyse {trouble} step by step. Give no code.', 'Work out {trouble} and outline the change.', 'Plan the work: name {trouble} and say what to do.', 'Think about {trouble} and describe what to write.'],
  write: ['Write {made} as the plan says; return the whole file.', 'Implement the plan and give {made} in full.', 'Following the plan, write {made}.', 'Apply the plan you are shown and return {made}.', 'Write {made} from the notes of your colleagues.'],
  check: ['Check the code case by case, mend it, and return the whole file.', 'Review it for edge cases and return the final file.', 'Verify {made} by tracing the cases; repair what is wrong.', 'Test {made} in your head and give the final version.', 'Review what you are shown and return it corrected.'],
  judge: ['Compare the attempts and return the best one whole.', 'Judge the attempts: which is right? Return that file.', 'Choose the attempt that is correct and return it complete.', 'Pick the best attempt, mend it if needed, and return it.'],
  vague: ['Solve the question.', 'Answer the question.', 'Do what is asked.'],
};
/** For questions that want no change. */
const EXPLAINING: typeof SUBTASKS = {
  alone: ['Write {made} with the lines that matter; change no code.', 'Answer the question from the code you are shown; change nothing.', 'Give {made}, with the code that it is about. Change nothing.', 'Write the answer in plain words; change no code.'],
  plan: ['Name the lines that the question is about. No answer yet.', 'Work out {trouble} step by step and take notes.', 'Think through {trouble} and describe what happens.', 'Find out which lines matter and outline the answer.'],
  write: ['Write the explanation from the notes of your colleagues.', 'Answer the question with the notes you are shown; change no code.', 'Following the notes, write {made}.'],
  check: ['Check the explanation against the code, and return it corrected.', 'Review what is said of the code and give the final answer.', 'Compare the answer with the code and mend what is wrong.'],
  judge: ['Compare the answers and return the one that fits the code.', 'Choose the better answer, correct it if needed, and return it.', 'Judge which answer is right and clear. Return that one.'],
  vague: SUBTASKS.vague,
};
/** Explanations seldom need many steps. */
const SHAPES_OF_EXPLANATIONS = SHAPES.filter(({ tasks }) => tasks.length <= 3).map(({ share, ...shape }) => ({ ...shape, share: share * (4 - shape.tasks.length) }));

const withWords = (template: string, want: Want, dice: Dice): string => dice.fill(template, { made: MADE[want], trouble: TROUBLE[want] });

/** The text of a plan for a question and a pool: some words of reasoning, then the three lists. */
export function makePlan(dice: Dice, { want, text }: Pick<MadeQuestion, 'want' | 'text'>, pool: readonly MadeWorker[], round: number): string {
  const digest = digestOf(text, pool);
  const [shapes, words] = want === 'explanation' ? [SHAPES_OF_EXPLANATIONS, EXPLAINING] : [SHAPES, SUBTASKS];
  const { tasks, reasons } = shapes[dice.weighted(shapes.map(({ share }) => share))] as (typeof SHAPES)[number];
  // Step numbers label the entries: without them the model sometimes miscounts long lists.
  const isNumbered = dice.chance(tasks.length > 3 ? 0.85 : 0.45);
  const modelIds: number[] = [];
  // An explanation is not run: hands do nothing for it.
  const useful = want === 'explanation' ? { ...digest, hands: [] } : digest;
  for (const task of tasks) modelIds.push(chosenWorker(dice, ROLE_OF[task], useful, pool.length, modelIds));
  const plan = {
    modelIds,
    subtasks: tasks.map((task) => withWords(dice.pick(words[task]), want, dice)),
    accessList: tasks.map((_, index) => chosenAccess(dice, tasks, index, { round, isNumbered })),
  };
  const reason = round > 0 && dice.chance(0.6) ? dice.pick(REVISION_REASONS) : dice.pick(reasons);
  return planText(reason, tasks.map((task, index) => `${ROLE_OF[task]}${modelIds[index]}`), plan);
}

/** The text that keeps the previous round's answer. */
export const keepText = (dice: Dice): string => planText(dice.pick(KEEP_REASONS), ['none'], { modelIds: [], subtasks: [], accessList: [] });

/**
 * The workers of all steps, before the lists. A small model cannot easily count three lists of equal length, but it can copy them from a fourth.
 * Each worker's number directly follows its role, without a space.
 */
const planText = (reason: string, steps: readonly string[], plan: Plan): string => `${reason} Steps: ${steps.join(', ')}.\n\n${renderPlan(plan)}`;

/** The beginning of a plan, up to the worker of the last step. */
export const openingOf = (text: string): string => text.slice(0, text.indexOf('.\n\n'));

/** A random worker, weighted strongly by praise for the role, less by nearness to the question and by hands where something is written, and slightly by not being used yet. */
function chosenWorker(dice: Dice, role: DigestRole, digest: WorkerDigest, workers: number, used: readonly number[]): number {
  const pull = (ranked: readonly number[], ordinal: number, first: number): number => [first, first / 3, first / 8][ranked.indexOf(ordinal)] ?? 0;
  return dice.weighted(Array.from({ length: workers }, (_, ordinal) =>
    (1 + pull(digest[role], ordinal, 16) + pull(digest.near, ordinal, 2) + (role === 'plan' ? 0 : pull(digest.hands, ordinal, 4))) * (used.includes(ordinal) ? 0.6 : 1)));
}

/**
 * The shape's access list, as numbers or as `all`; sometimes a random valid one. A plan uses one of the two forms throughout, because regular lists
 * are easier to count.
 */
function chosenAccess(
  dice: Dice, tasks: readonly Task[], index: number, { round, isNumbered }: { readonly round: number; readonly isNumbered: boolean },
): Access {
  const earlier = Array.from({ length: index }, (_, step) => step);
  if (dice.chance(0.04)) {
    const anything = dice.below(3);
    return anything === 0 ? [] : anything === 1 ? 'all' : dice.some(earlier, dice.below(index + 1)).sort((a, b) => a - b);
  }
  // Otherwise the previous round would not be visible.
  if (index === 0 || tasks[index] === 'alone') return round > 0 && dice.chance(0.8) ? 'all' : [];
  if (!isNumbered) return 'all';
  const plans = earlier.filter((step) => tasks[step] === 'plan');
  if (tasks[index] === 'plan') return [];
  if (tasks[index] === 'write') return plans.length > 0 ? plans : earlier;
  return tasks[index] === 'judge' ? earlier.filter((step) => tasks[step] !== 'plan') : earlier.slice(-1);
}
