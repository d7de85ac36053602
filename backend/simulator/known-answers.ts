import { KeyedRandom } from '../common/keyed-random.ts';
import { KINDS } from './families/family.ts';
import { readRole } from './roles.ts';
import { keyOf } from './simulated-model.ts';
import { readView, type SeenStep } from './view.ts';
import { signature } from './worker-texts.ts';
import type { WorkerRule } from './worker-model.ts';

/** The answers that simulated workers know to a question. */
export interface KnownAnswers {
  readonly right: string;
  /** At least one. */
  readonly wrong: readonly [string, ...string[]];
}

/** How much a question's own difficulty moves the chance of a right answer. */
const SPREAD = 0.5;
/** What a visible plan is worth. */
const PLAN_BONUS = 0.06;
/** Share of a checker's skill with which it finds the right answer where nobody gave it. */
const REPAIR = 0.5;

/**
 * Workers that recognise questions of a data set and know a right answer and wrong ones. Which they give depends on their hidden skill, on
 * the question, and on what they see of others: the answers they can choose from when they check or judge. It shows nothing about real models.
 */
export function knownAnswersRule(find: (question: string) => KnownAnswers | undefined): WorkerRule {
  return ({ name, skills, seed }, request) => {
    const view = readView(request.messages);
    const known = find(view.question);
    if (!known) return `${signature(name)}\n\nI do not know this question.`;
    const random = new KeyedRandom('known answers', seed, name, keyOf(request));
    const ofQuestion = new KeyedRandom('question', view.question);
    const skill = skills[ofQuestion.pick('kind', KINDS)];
    const harder = SPREAD * (ofQuestion.unit('difficulty') - 0.5);
    const attempts = attemptsIn(known, view.steps);
    const say = (isRight: boolean): string => `${signature(name)}\n\n${isRight ? known.right : random.pick('wrong', known.wrong)}`;
    if (/\bACCEPT or ESCALATE\b/.test(view.subtask)) {
      const isRight = attempts.at(-1) === 'right';
      const seesIt = random.chance('verdict', skill.check);
      return `${signature(name)}\n\n${isRight === seesIt ? 'ACCEPT' : 'ESCALATE'}`;
    }
    const { role } = readRole(view.subtask);
    if (role === 'plan') return `${signature(name)}\n\nRead the question closely, treat the difficult cases first, then put the parts together.`;
    const plans = view.steps.length - attempts.length;
    const writes = skill.write - harder + (plans > 0 ? PLAN_BONUS : 0);
    if (role === 'write' || attempts.length === 0) return say(random.chance('write', writes));
    const votes = attempts.filter((attempt) => attempt === 'right').length / attempts.length;
    if (votes === 0) return say(random.chance('repair', REPAIR * (skill.check - harder)));
    // Many right attempts are easier to trust.
    return say(random.chance('check', Math.max(votes, skill.check - harder + 0.2 * votes)));
  };
}

/** Whether each answer in view is right; texts without an answer are left out. */
function attemptsIn({ right, wrong }: KnownAnswers, steps: readonly SeenStep[]): ('right' | 'wrong')[] {
  return steps.flatMap(({ output }) => (output.includes(right) ? ['right' as const] : wrong.some((text) => output.includes(text)) ? ['wrong' as const] : []));
}
