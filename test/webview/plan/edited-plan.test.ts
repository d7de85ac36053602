import { describe, expect, it } from 'vitest';
import { MOST_CHARACTERS, MOST_STEPS } from '../../../backend/protocol/plan-limits.ts';
import type { Plan } from '../../../backend/protocol/plan.ts';
import { MAX_STEPS } from '../../../backend/workflow/plan.ts';
import { MAX_SUBTASK_LENGTH, validatePlan } from '../../../backend/workflow/validate-plan.ts';
import {
  editedFrom, isChanged, isComplete, isUsed, planOf, positionsRead, readEditedPlan, withNewStep, withoutStep, withRead, withStep,
} from '../../../webview/plan/edited-plan.ts';

const PLAN = { modelIds: [0, 1, 2], subtasks: ['Look.', 'Write.', 'Check.'], accessList: [[], [0], 'all' as const] };
const edited = editedFrom(PLAN);

it('has the limits of the backend', () => {
  expect([MOST_STEPS, MOST_CHARACTERS]).toEqual([MAX_STEPS, MAX_SUBTASK_LENGTH]);
});

describe('a plan that a person changes', () => {
  it('is the same plan as long as nothing is changed, whatever spaces its words end with', () => {
    expect(planOf(edited)).toEqual(PLAN);
    expect(isChanged(edited, PLAN)).toBe(false);
    expect(isChanged(withStep(edited, 0, { subtask: ' Look.\n' }), PLAN)).toBe(false);
    expect(isChanged(withStep(edited, 0, { worker: 1 }), PLAN)).toBe(true);
  });

  it('keeps what a step reads when others are removed', () => {
    const rest = withoutStep(withRead(edited, 2, 0, false), 0);
    expect(planOf(rest)).toEqual({ modelIds: [1, 2], subtasks: ['Write.', 'Check.'], accessList: [[], [0]] });
  });

  it('has a new step read by the one after it, and at the end one that reads everything', () => {
    const between = withNewStep(edited, 1);
    expect(planOf(between)).toMatchObject({ modelIds: [0, 1, 1, 2], accessList: [[], [], [0, 1], 'all'] });
    expect(planOf(withNewStep(edited, 3))).toMatchObject({ modelIds: [0, 1, 2, 2], accessList: [[], [0], 'all', [0, 1, 2]] });
    expect(isComplete(between)).toBe(false);
    expect(new Set(withNewStep(withoutStep(between, 3), 0).map(({ key }) => key)).size).toBe(4);
  });

  it('reads the rest where one of all is taken away, and never a later step', () => {
    expect(planOf(withRead(edited, 2, 0, false)).accessList).toEqual([[], [0], [1]]);
    expect(planOf(withRead(withRead(edited, 2, 0, false), 2, 0, true)).accessList).toEqual([[], [0], [0, 1]]);
    expect(positionsRead(withStep(edited, 0, { reads: [2] }), 0)).toEqual([]);
    expect(isUsed(withRead(edited, 2, 1, false), 1)).toBe(false);
    expect(edited.map((_, index) => isUsed(edited, index))).toEqual([true, true, true]);
  });

  it('is a valid plan whatever is done to it, once each step has words', () => {
    let steps = edited;
    for (let turn = 0; turn < 300; turn += 1) {
      const at = (turn * 7) % steps.length;
      if (turn % 3 === 0 && steps.length < MOST_STEPS) steps = withNewStep(steps, at);
      else if (turn % 5 === 0 && steps.length > 1) steps = withoutStep(steps, steps[at]?.key ?? 0);
      else steps = withRead(steps, at, Math.max(0, at - 1), at > 0 && turn % 2 === 0);
      steps = steps.map((step) => ({ ...step, subtask: step.subtask || 'Do it.' }));
      const checked = validatePlan(planOf(steps), { workerCount: 3 });
      expect(checked).toEqual({ ok: true, plan: planOf(steps) });
    }
  });

  it('is read again after a reload only where it is one', () => {
    expect(readEditedPlan(JSON.parse(JSON.stringify(edited)), 3)).toEqual(edited);
    const wrong: unknown[] = [undefined, 'plan', [{}], [{ ...edited[0], worker: -1 }], [{ ...edited[0], reads: ['0'] }], Array(6).fill(edited[0])];
    for (const stored of wrong) expect(readEditedPlan(stored, 3)).toBeUndefined();
    expect(readEditedPlan(edited, 2)).toBeUndefined();
  });

  it('never reads a step twice', () => {
    const plan: Plan = { modelIds: [0, 0], subtasks: ['a', 'b'], accessList: [[], [0, 0]] };
    expect(planOf(editedFrom(plan)).accessList).toEqual([[], [0]]);
  });
});
