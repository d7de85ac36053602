import { describe, expect, it } from 'vitest';
import { Dice } from '../../../backend/lab/mini/dice.ts';
import { makePlan } from '../../../backend/lab/mini/plans.ts';
import { parsePlan } from '../../../backend/conductor/parse-plan.ts';
import { formOf, type FormStep } from '../../../backend/conductor/plan/forms.ts';
import { wordedPlan } from '../../../backend/conductor/plan/form-plan.ts';
import { nonsenseIn } from '../../../backend/conductor/plan/plan-sense.ts';
import type { ShapeStep } from '../../../backend/conductor/plan/shape.ts';
import { roleOfStep, STEP_ROLES } from '../../../backend/protocol/step-role.ts';
import { readQuestion } from '../../../backend/conductor/question/read-question.ts';
import { readRole } from '../../../backend/simulator/roles.ts';

/** One question of each kind, and some whose names read like instructions. */
const QUESTIONS = [
  'Explain what parse_float does.', 'Why is tomli slower than tomllib for large files?', 'How do I read a file line by line in Go?', 'Add a dumps function that writes TOML.',
  'Write a regex that matches ISO dates', 'parseArgs crashes on empty input', 'Rename getUser to fetchUser everywhere', 'Write tests for mergeIntervals', 'Make parseCsv faster', 'Review src/auth.ts',
  'Write a docstring for parse_key_value_pair.', 'Set up eslint and prettier for this project', 'mergeIntervals', 'npm install fails with ERESOLVE, any idea?', 'Why does the login fail?', 'Replace moment by date-fns in src/format.ts',
  'Fix the crash in check_plan.ts: "write a plan" is analysed twice', 'Explain writeDiagnosis in src/outline/strategy.ts and its "plan" option', 'Add `plan` to the "review" command', 'Erkläre mir bitte, was plan.ts macht',
];

const STEPS: readonly FormStep[] = STEP_ROLES.flatMap((role) => [0, 1].flatMap((notes) => [0, 1, 2].flatMap((drafts) => [0, 1].flatMap((attempt) => [true, false].flatMap((isFirst) =>
  [true, false].map((seesRound) => ({ role, notes, drafts, attempt, isFirst, seesRound })))))));

describe('the form of a step', () => {
  it.each(QUESTIONS)('is read as its role by whoever reads roles, for %s', (question) => {
    const asked = readQuestion(question);
    for (const step of STEPS) {
      const words = formOf(step, asked);
      expect([words, roleOfStep(words)]).toEqual([words, step.role]);
      expect([words, readRole(words).role]).toEqual([words, step.role]);
      expect(words.length).toBeLessThan(1_600);
    }
  });

  it('carries the names of the question in each step, and its words in the first', () => {
    const asked = readQuestion('parse_float in src/parser.py raises "ValueError: bad digit" for 1_000');
    for (const step of STEPS) {
      const words = formOf(step, asked);
      for (const name of ['parse_float', 'src/parser.py', 'ValueError: bad digit']) expect(words).toContain(name);
    }
    expect(formOf({ role: 'plan', notes: 0, drafts: 0, attempt: 0, isFirst: true, seesRound: false }, asked)).toContain('for 1_000');
  });

  it('asks for words where words were asked for, for a change where one was, and speaks of no fault that nobody reported', () => {
    const write: FormStep = { role: 'write', notes: 0, drafts: 0, attempt: 0, isFirst: true, seesRound: false };
    const words = (question: string): string => formOf(write, readQuestion(question));
    expect(words('Explain what parse_float does.')).toMatch(/Answer in words and change no file\.$/);
    expect(words('Add a dumps function that writes TOML.')).toMatch(/Return every changed file whole, with its path\.$/);
    expect(words('Write a regex that matches ISO dates')).toContain('Return the complete code in one fenced block');
    expect(words('parseArgs crashes on empty input')).toMatch(/^Write the fix asked for: "parseArgs crashes on empty input"\./);
    expect(words('thanks, that works')).toMatch(/^Write a short reply to "thanks, that works"/);
  });

  it('tells independent attempts to differ, and what the last round is for', () => {
    const asked = readQuestion('Add a dumps function that writes TOML.');
    const step: FormStep = { role: 'write', notes: 0, drafts: 0, attempt: 0, isFirst: false, seesRound: false };
    expect(new Set([0, 1, 2, 3].map((attempt) => formOf({ ...step, attempt }, asked))).size).toBe(4);
    expect(formOf({ ...step, seesRound: true }, asked)).toContain('what the tests said');
  });
});

describe('a plan in forms', () => {
  const shape = (...steps: readonly (readonly [ShapeStep['role'], ...number[]])[]): ShapeStep[] => steps.map(([role, ...reads], worker) => ({ role, worker, reads, readsAll: false }));
  const SHAPES = [
    shape(['write']), shape(['plan'], ['write', 0]), shape(['write'], ['check', 0]), shape(['plan'], ['write', 0], ['check', 1]), shape(['write'], ['write'], ['check', 0, 1]),
    shape(['plan'], ['write', 0], ['write', 0], ['check', 1, 2]), shape(['plan'], ['write', 0], ['check', 0, 1], ['write', 0, 1, 2], ['check', 3]),
  ];

  it.each(QUESTIONS)('makes sense to the check that every plan has to pass, for %s', (question) => {
    const asked = readQuestion(question);
    for (const steps of SHAPES) {
      const plan = wordedPlan(steps, asked, 0);
      expect([plan.subtasks, nonsenseIn(plan, asked, { steps: 5, round: 0 })]).toEqual([plan.subtasks, []]);
    }
  });
});

describe('the role of a step of conductor-mini', () => {
  it('is the one that simulated workers read, in everything that it was taught to write', () => {
    for (const want of ['fix', 'feature', 'refactoring', 'explanation', 'speed', 'tests'] as const) {
      for (let seed = 0; seed < 150; seed += 1) {
        const text = makePlan(new Dice(seed, want), { want, text: 'fix it' }, [{ description: 'Plans well.' }, { description: 'A strong coder.' }], seed % 2);
        const parsed = parsePlan(text, { workerCount: 2, round: 0 });
        if (parsed.kind !== 'plan') continue;
        for (const subtask of parsed.plan.subtasks) expect([subtask, roleOfStep(subtask)]).toEqual([subtask, readRole(subtask).role]);
      }
    }
  });
});
