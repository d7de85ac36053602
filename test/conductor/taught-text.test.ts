import { describe, expect, it } from 'vitest';
import { parsePlan } from '../../backend/conductor/parse-plan.ts';
import { ownText, taughtText } from '../../backend/conductor/taught-text.ts';
import { roleOfStep } from '../../backend/protocol/step-role.ts';
import type { Plan } from '../../backend/protocol/plan.ts';

const PLAN: Plan = {
  modelIds: [2, 0, 1], subtasks: ['Diagnose why the last entry is lost in mergeIntervals.', 'Write the fix as diagnosed.', 'Review the fix case by case.'], accessList: [[], [0], [0, 1]],
};
const MINI = { isInstructed: false };
const LARGE = { isInstructed: true };
const decided = (told: ReturnType<typeof taughtText>): string => told.text.slice(told.decision.from, told.decision.to);

describe('a plan in the text of another Conductor', () => {
  it('is in the form of conductor-mini: the workers and their roles first, and words that are read back as these roles', () => {
    const told = taughtText(PLAN, MINI);
    expect(told.text).toMatch(/^Plan, write, check\. Steps: plan2, write0, check1\.\n\nmodel_id = \[2, 0, 1\]\n/);
    const parsed = parsePlan(told.text, { workerCount: 3, round: 0 });
    expect(parsed).toMatchObject({ kind: 'plan', plan: { modelIds: [2, 0, 1], accessList: PLAN.accessList } });
    if (parsed.kind === 'plan') expect(parsed.plan.subtasks.map(roleOfStep)).toEqual(['plan', 'write', 'check']);
    expect(decided(told)).toBe('Plan, write, check. Steps: plan2, write0, check1.\n\nmodel_id = [2, 0, 1]');
  });

  it('keeps the roles of every shape', () => {
    const words = { plan: 'Diagnose it.', write: 'Write it.', check: 'Review it.' } as const;
    for (const roles of [['write'], ['write', 'write', 'check'], ['plan', 'plan', 'write', 'write', 'check'], ['check', 'write']] as const) {
      const plan = { modelIds: roles.map(() => 0), subtasks: roles.map((role) => words[role]), accessList: roles.map(() => 'all' as const) };
      const parsed = parsePlan(taughtText(plan, MINI).text, { workerCount: 1, round: 0 });
      expect(parsed.kind === 'plan' && parsed.plan.subtasks.map(roleOfStep)).toEqual(roles);
    }
  });

  it('is the plan itself for a model that follows instructions, judged by whom it names', () => {
    const told = taughtText(PLAN, LARGE);
    expect(parsePlan(told.text, { workerCount: 3, round: 0 })).toMatchObject({ kind: 'plan', plan: PLAN });
    expect(decided(told)).toBe('model_id = [2, 0, 1]');
    expect(decided(ownText(' because of that.\nmodel_id: [1]\nsubtasks: []', LARGE))).toBe('model_id: [1]');
    expect(decided(ownText('no list', LARGE))).toBe('no list');
  });
});
