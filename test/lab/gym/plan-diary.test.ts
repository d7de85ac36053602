import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderPlan } from '../../../backend/conductor/render-plan.ts';
import { PlanDiary, planEntry } from '../../../backend/lab/gym/plan-diary.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const POOL = [{ id: 'aspen' }, { id: 'briar' }];

const TWO_STEPS = renderPlan({ modelIds: [0, 1], subtasks: ['Plan the work. No code.', 'Write the code.'], accessList: [[], 'all'] });
const ONE_STEP = renderPlan({ modelIds: [1], subtasks: ['Write the code.'], accessList: [[]] });

describe('the diary of plans', () => {
  it('counts steps, and who was given what, of what is a plan', () => {
    expect(planEntry([TWO_STEPS, ONE_STEP, 'no plan'], { step: 3, kind: 'strings', pool: POOL })).toEqual({
      step: 3, kind: 'strings', sampled: 3, lengths: [1, 1, 0, 0, 0], workers: { plan: { aspen: 1 }, write: { briar: 2 }, check: {} },
    });
  });

  it('goes on behind the steps that are done', async () => {
    const file = path.join(await temporaryFolder(), 'plans.jsonl');
    const entryOf = (step: number) => planEntry([ONE_STEP], { step, kind: 'strings', pool: POOL });
    const first = await PlanDiary.open(file, { stepsDone: 0 });
    for (const step of [1, 1, 2, 3]) await first.add(entryOf(step));

    const second = await PlanDiary.open(file, { stepsDone: 2 });
    await second.add(entryOf(3));

    expect(second.entries.map(({ step }) => step)).toEqual([1, 1, 2, 3]);
    expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(4);
  });
});
