import { describe, expect, it } from 'vitest';
import { judgePlan } from './judge.ts';
import { MADE_PLANS, type MadePlan } from './judged-plans.ts';
import { QUESTION_KINDS, readQuestions } from './questions.ts';
import { readSubtask } from './read-subtask.ts';

const open = readQuestions('open');
const heldOut = readQuestions('held-out');

const verdictOn = ({ question, steps }: MadePlan): string[] => {
  const labelled = open.find(({ id }) => id === question);
  if (!labelled) throw new RangeError(`There is no open question "${question}".`);
  const plan = { modelIds: steps.map(() => 0), subtasks: steps.map(([subtask]) => subtask), accessList: steps.map(([, access = []]) => access) };
  return judgePlan(labelled, steps.length === 0 ? undefined : plan).sort();
};

describe('the judge of fit', () => {
  it.each(MADE_PLANS.map((made) => [`${made.question}: ${made.steps.map(([subtask]) => subtask).join(' → ')}`, made] as const))('judges as a person does: %s', (_name, made) => {
    expect(verdictOn(made)).toEqual([...made.verdict].sort());
  });

  it('is tried on good and on bad plans, with each misfit', () => {
    const misfits = new Set(MADE_PLANS.flatMap(({ verdict }) => verdict));
    expect([...misfits].sort()).toEqual(['fault', 'form', 'last', 'names', 'no plan', 'steps', 'subject', 'unread', 'unseen']);
    expect(MADE_PLANS.filter(({ verdict }) => verdict.length === 0).length).toBeGreaterThan(20);
  });

  it('takes no words for a fault that are quoted from the question', () => {
    expect(readSubtask('Explain what "TypeError: the bug is here" means.').fault).toBe('none');
    expect(readSubtask('Explain the bug.').fault).toBe('granted');
  });

  it('takes a refusal to change code for no request of code', () => {
    expect(readSubtask('Explain it. Do not change any code and return no file.').product).toBe('words');
  });
});

describe('the questions', () => {
  it('are at least 300, a fifth of them held out, a quarter in other languages, of every kind in both sets', () => {
    const all = [...open, ...heldOut];
    expect(all.length).toBeGreaterThanOrEqual(300);
    expect(heldOut.length / all.length).toBeGreaterThan(0.18);
    expect(all.filter(({ language }) => language !== 'en').length / all.length).toBeGreaterThan(0.25);
    for (const set of [open, heldOut]) expect(new Set(set.map(({ kind }) => kind))).toEqual(new Set(QUESTION_KINDS));
  });

  it('are different ones, and hold the names that a plan has to carry', () => {
    const all = [...open, ...heldOut];
    expect(new Set(all.map(({ text }) => text)).size).toBe(all.length);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const { id, names, text } of all) expect(names.filter((name) => !text.includes(name)), id).toEqual([]);
  });
});
