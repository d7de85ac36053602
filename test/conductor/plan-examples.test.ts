import { describe, expect, it } from 'vitest';
import { nonsenseIn } from '../../backend/conductor/plan/plan-sense.ts';
import { mostSteps, readPlan } from '../../backend/conductor/plan/read-plan.ts';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import { readQuestion } from '../../backend/conductor/question/read-question.ts';
import { renderPlan } from '../../backend/conductor/render-plan.ts';
import { readErrand } from '../../backend/conductor/plan/read-errand.ts';
import { estimateTokens } from '../../backend/workers/limits/estimate-tokens.ts';

const { standard, compact } = PROMPT_PROFILES;
const named = standard.examples.map((example) => [example.question, example] as const);

describe('the examples of the prompt', () => {
  it.each(named)('make sense for their own question: %s', (question, { plan }) => {
    const asked = readQuestion(question);
    expect(nonsenseIn(plan, asked, { steps: mostSteps(asked, 0), round: 0 })).toEqual([]);
    expect(readPlan(renderPlan(plan), { workerCount: 3, round: 0, question, profile: standard, mayAskAgain: true })).toEqual({ kind: 'plan', plan });
    expect(plan.modelIds.length).toBeLessThanOrEqual(mostSteps(asked, 0));
  });

  it('are of several kinds, and speak of others\' work where they are shown some', () => {
    expect(standard.examples.map(({ question }) => readQuestion(question).kind)).toEqual(expect.arrayContaining(['explain', 'bug', 'small-talk', 'review', 'feature']));
    for (const { plan } of [...standard.examples, ...compact.examples]) {
      for (const [index, subtask] of plan.subtasks.entries()) expect(readErrand(subtask).speaksOf > 0, subtask).toBe(plan.accessList[index]?.length !== 0);
    }
  });

  it('suggest no shape and no worker: lengths, access and last workers differ', () => {
    for (const { examples } of [standard, compact]) {
      const shapes = examples.map(({ plan: { accessList } }) => JSON.stringify(accessList));
      expect(new Set(shapes).size).toBeGreaterThanOrEqual(examples.length - 1);
      expect(new Set(examples.flatMap(({ plan }) => plan.modelIds))).toEqual(new Set([0, 1, 2]));
      expect(new Set(examples.map(({ plan }) => plan.modelIds.at(-1))).size).toBeGreaterThanOrEqual(2);
    }
  });

  it('leave most of the room to the project', () => {
    for (const { examples, contextCharacters } of [standard, compact]) {
      const tokens = estimateTokens(examples.map(({ question, reasoning, plan }) => `${question}\n${reasoning}\n${renderPlan(plan)}`).join('\n'));
      expect(tokens).toBeLessThan(contextCharacters / 3);
    }
  });
});
