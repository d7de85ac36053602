import { describe, expect, it } from 'vitest';
import { stepsOf } from '../../backend/workflow/plan.ts';
import { validatePlan, type RawPlan } from '../../backend/workflow/validate-plan.ts';

const raw = (change: Partial<RawPlan> = {}): RawPlan => ({ modelIds: [0, 1], subtasks: ['Look.', 'Write.'], accessList: [[], [0]], ...change });
const validate = (change: Partial<RawPlan> = {}, workerCount = 2) => validatePlan(raw(change), { workerCount });
const five = { modelIds: [0, 0, 0, 0, 0], subtasks: ['a', 'b', 'c', 'd', 'e'], accessList: [[], [], [], [], 'all'] };

describe('a plan is valid', () => {
  it('with numbers as digits, space around subtasks, and "all" in any case', () => {
    expect(validate({ modelIds: [' 1 ', '0'], subtasks: [' Look. ', 'Write.\n'], accessList: [[], ' ALL '] })).toEqual({
      ok: true, plan: { modelIds: [1, 0], subtasks: ['Look.', 'Write.'], accessList: [[], 'all'] },
    });
    expect(validate({ modelIds: ['10', 0] }, 11)).toMatchObject({ ok: true, plan: { modelIds: [10, 0] } });
  });

  it('with "all" in a list, whatever else the list holds', () => {
    expect(validate({ accessList: [[], [0, ' All ']] })).toMatchObject({ ok: true, plan: { accessList: [[], 'all'] } });
  });

  it('up to five steps and 8,000 characters in a subtask', () => {
    expect(validate(five).ok).toBe(true);
    expect(validate({ subtasks: ['x'.repeat(8_000), 'Write.'] }).ok).toBe(true);
  });
});

describe('a plan is rejected with a sentence that says how to correct it', () => {
  const long = 'x'.repeat(80);
  it.each<[Partial<RawPlan>, string, string]>([
    [{ modelIds: [], subtasks: [], accessList: [] }, 'no-steps', 'The three lists are empty: a plan has at least one step.'],
    [{ subtasks: ['Look.'] }, 'unequal-lengths', 'The lists must have one entry a step, but model_id has 2, subtasks 1 and access_list 2.'],
    [
      { modelIds: [...five.modelIds, 0], subtasks: [...five.subtasks, 'f'], accessList: [...five.accessList, []] },
      'too-many-steps', 'The plan has 6 steps; at most 5 are allowed.',
    ],
    [{ subtasks: [] }, 'unequal-lengths', 'The lists must have one entry a step, but model_id has 2, subtasks 0 and access_list 2.'],
    [{ modelIds: [0, 'worker 1'] }, 'unknown-worker', 'model_id names worker "worker 1"; the workers are 0 to 1.'],
    [{ modelIds: [0, '1 of 2'] }, 'unknown-worker', 'model_id names worker "1 of 2"; the workers are 0 to 1.'],
    [{ modelIds: [0, 2] }, 'unknown-worker', 'model_id names worker 2; the workers are 0 to 1.'],
    [{ modelIds: [0, -1] }, 'unknown-worker', 'model_id names worker -1; the workers are 0 to 1.'],
    [{ modelIds: [0, 0.5] }, 'unknown-worker', 'model_id names worker 0.5; the workers are 0 to 1.'],
    [{ modelIds: [0, 'gpt'] }, 'unknown-worker', 'model_id names worker "gpt"; the workers are 0 to 1.'],
    [{ modelIds: [0, ['1']] }, 'unknown-worker', 'model_id names worker ["1"]; the workers are 0 to 1.'],
    [{ modelIds: [0, long] }, 'unknown-worker', `model_id names worker "${'x'.repeat(56)}…; the workers are 0 to 1.`],
    [{ modelIds: [0, 'y'.repeat(58)] }, 'unknown-worker', `model_id names worker "${'y'.repeat(58)}"; the workers are 0 to 1.`],
    [{ subtasks: ['Look.', ' '] }, 'malformed-subtask', 'Subtask 1 must be an instruction in words, not " ".'],
    [{ subtasks: [7, 'Write.'] }, 'malformed-subtask', 'Subtask 0 must be an instruction in words, not 7.'],
    [{ subtasks: ['x'.repeat(8_001), 'Write.'] }, 'malformed-subtask', 'Subtask 0 is longer than 8000 characters.'],
    [{ accessList: [[], 0] }, 'malformed-access', 'access_list entry 1 must be [], ["all"] or step numbers, not 0.'],
    [{ accessList: [[], ['none']] }, 'malformed-access', 'access_list entry 1 holds "none", which is neither "all" nor a step number.'],
    [{ accessList: [[], [1]] }, 'forward-reference', 'Step 1 may only read earlier steps, but access_list gives it step 1.'],
  ])('%j', (change, reason, message) => expect(validate(change)).toEqual({ ok: false, rejection: { reason, message } }));

  it('but an error of another kind is thrown', () => {
    const broken = { get length(): number { throw new TypeError('not a plan'); } } as unknown as unknown[];
    expect(() => validate({ modelIds: broken })).toThrow(TypeError);
    const failing = { length: 2, map: () => { throw new TypeError('no entries'); } } as unknown as unknown[];
    expect(() => validate({ modelIds: failing })).toThrow('no entries');
  });
});

describe('the steps of a plan', () => {
  it('read earlier steps in ascending order, each once', () => {
    const plan = { modelIds: [0, 1, 0, 1], subtasks: ['a', 'b', 'c', 'd'], accessList: [[], [0], 'all', [2, 0, 2]] } as const;
    expect(stepsOf(plan).map(({ subtask, reads, readsPreviousRound }) => [subtask, reads, readsPreviousRound])).toEqual([
      ['a', [], false], ['b', [0], false], ['c', [0, 1], true], ['d', [0, 2], false],
    ]);
  });
});
