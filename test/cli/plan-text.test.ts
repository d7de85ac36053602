import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { editorOf, editText } from '../../backend/cli/edit-text.ts';
import { planByPrompts } from '../../backend/cli/plan-prompts.ts';
import { planOfText, planText, PlanTextError } from '../../backend/cli/plan-text.ts';
import { MOST_STEPS } from '../../backend/protocol/plan-limits.ts';
import type { Plan } from '../../backend/protocol/plan.ts';
import { MAX_STEPS } from '../../backend/workflow/plan.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/* A plan that a person changes at the terminal. */

const WORKERS = ['atlas', 'birch'];
const PLAN: Plan = { modelIds: [0, 1, 1], subtasks: ['Find the cause.', 'step 9: nobody\n# no comment\n\n    code();', 'Answer.'], accessList: [[], [0], 'all'] };

describe('the text of a plan', () => {
  it('is read as the plan that it was written from, whatever its instructions hold', () => {
    expect(planOfText(planText(PLAN, WORKERS), WORKERS)).toEqual(PLAN);
    expect(MOST_STEPS).toBe(MAX_STEPS);
  });

  it('can have steps of any name, in a new order, with instructions that are not indented', () => {
    const text = 'step look: birch\nLook at it.\r\n\nstep mend: atlas, reads look\n  Mend it.\nstep end: atlas reads look and mend\nSay so.';
    expect(planOfText(text, WORKERS)).toEqual({ modelIds: [1, 0, 0], subtasks: ['Look at it.', 'Mend it.', 'Say so.'], accessList: [[], [0], [0, 1]] });
  });

  it('leaves the plan as it is without a step', () => {
    expect(planOfText('# only help\n\n', WORKERS)).toBeUndefined();
  });

  it.each([
    ['Hello.\n', 'Line 1 belongs to no step: a plan begins with "step 1: WORKER".'],
    ['step 1 atlas\n  Look.', 'Line 1 is no step: write "step NAME: WORKER", or "step NAME: WORKER, reads NAME".'],
    ['step 1: cedar\n  Look.', 'Line 1: there is no worker "cedar"; there are atlas, birch.'],
    ['step 1: atlas\n  Look.\nstep 1: atlas\n  Look.', 'Line 3: there are two steps "1".'],
    ['step 1: atlas, reads 2\n  Look.\nstep 2: atlas\n  Look.', 'Line 1: "2" is no earlier step.'],
    ['step 1: atlas\n\nstep 2: atlas\n  Look.', 'Step 1 has no instruction.'],
  ])('says of %j what is wrong', (text, message) => {
    expect(() => planOfText(text, WORKERS)).toThrow(new PlanTextError(message));
  });
});

/** Answers the questions in their order. */
async function prompted(...answers: string[]): Promise<{ plan: Plan; said: string }> {
  const said: string[] = [];
  const plan = await planByPrompts({ modelIds: [0, 1], subtasks: ['Look.', 'Answer.'], accessList: [[], [0]] }, {
    workers: WORKERS, terminal: { say: (text) => void said.push(text) }, ask: async () => answers.shift() ?? '',
  });
  expect(answers).toEqual([]);
  return { plan, said: said.join('\n') };
}

describe('the questions about a plan, where no editor is named', () => {
  it('change a step, add one and remove one', async () => {
    expect((await prompted('2', 'atlas', 'Answer well.', 'none', '')).plan).toEqual({ modelIds: [0, 0], subtasks: ['Look.', 'Answer well.'], accessList: [[], []] });
    expect((await prompted('1', 'birch', '', '', '')).plan).toEqual({ modelIds: [1, 1], subtasks: ['Look.', 'Answer.'], accessList: [[], [0]] });
    expect((await prompted('+', '', 'Sum up.', '1, 2', '')).plan).toEqual({ modelIds: [0, 1, 1], subtasks: ['Look.', 'Answer.', 'Sum up.'], accessList: [[], [0], [0, 1]] });
    expect((await prompted('-1', '')).plan).toEqual({ modelIds: [1], subtasks: ['Answer.'], accessList: [[]] });
  });

  it('say what there is not, and change nothing then', async () => {
    const { plan, said } = await prompted('7', '2', 'cedar', '', '', '2', '', '', '5', '+', '', '', '', '');
    expect(plan).toEqual({ modelIds: [0, 1], subtasks: ['Look.', 'Answer.'], accessList: [[], [0]] });
    for (const sentence of ['There is no step "7".', 'there is no worker "cedar"', '"5" is no earlier step.', 'Step 3 has no instruction.']) expect(said).toContain(sentence);
  });
});

test('the editor is the person\'s, and gets a file of its own that is gone afterwards', async () => {
  expect(editorOf({ VISUAL: ' ', EDITOR: 'vi' })).toBe('vi');
  expect(editorOf({})).toBeUndefined();
  const folder = await temporaryFolder();
  const editor = path.join(folder, 'my editor.sh');
  await writeFile(editor, '#!/bin/sh\necho "$1" > "$0.file"; stat -c %a "$1" >> "$0.file"; sed -i s/one/two/ "$1"\n', { mode: 0o755 });
  const { signal } = new AbortController();
  expect(await editText('one\n', { editor: `'${editor}'`, name: 'plan.txt', signal })).toBe('two\n');
  const [file = '', mode] = (await readFile(`${editor}.file`, 'utf8')).split('\n');
  expect(mode).toBe('600');
  await expect(stat(file)).rejects.toThrow('ENOENT');
  await expect(editText('one\n', { editor: 'exit 3;', name: 'plan.txt', signal })).rejects.toThrow('The editor "exit 3;" ended with code 3: the plan is as it was.');
});
