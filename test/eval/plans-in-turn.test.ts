import { describe, expect, it } from 'vitest';
import { plansInTurn } from '../../backend/eval/contestants/plans-in-turn.ts';
import { alone } from '../../backend/eval/plans.ts';
import { wholeGrade } from '../../backend/verify/graders/grader.ts';
import { UNANSWERED, type EvalTask } from '../../backend/eval/run-plan.ts';

const { signal } = new AbortController();
/** Verified where the answer is "right", and scored by its length otherwise. */
const task: EvalTask = {
  id: 'one', question: 'one', context: '',
  grader: { grade: ({ answer }) => Promise.resolve({ ...wholeGrade(answer === 'right', ''), score: answer.length / 10 }) },
};

/** Tries one plan for each answer; a plan costs a dollar. */
async function tried(...answers: readonly string[]) {
  const played: { readonly worker: number | undefined; readonly sample: number }[] = [];
  const contestant = plansInTurn('attempts', { plansFor: () => answers.map((_, worker) => alone(worker)), signal });
  const answered = await contestant.answer(task, (plan, sample) => {
    played.push({ worker: plan.modelIds[0], sample });
    return Promise.resolve({ ...UNANSWERED, answer: answers[plan.modelIds[0] ?? 0] ?? '', costUsd: 1 });
  }, 1);
  return { answer: answered.answer, costUsd: answered.costUsd, played };
}

describe('plans that are tried in turn', () => {
  it('end with the first verified answer, and pay for those before it', async () => {
    expect(await tried('wrong', 'right', 'right')).toEqual({ answer: 'right', costUsd: 2, played: [{ worker: 0, sample: 0 }, { worker: 1, sample: 1 }] });
  });

  it('answer with the best of them where none is verified, the first of equals', async () => {
    expect(await tried('bad', 'better', 'worse!', 'no')).toMatchObject({ answer: 'better', costUsd: 4 });
  });

  it('answer nothing, for nothing, where there is no plan', async () => {
    expect(await tried()).toEqual({ answer: '', costUsd: 0, played: [] });
  });
});
