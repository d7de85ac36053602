import { describe, expect, it } from 'vitest';
import { GymGrades, knownGrader } from '../../../backend/lab/gym/gym-grades.ts';
import { gymTasks, type GymTask } from '../../../backend/lab/gym/gym-tasks.ts';
import { wantTasks } from '../../../backend/lab/gym/wants/want-tasks.ts';
import type { Program, ProgramRun } from '../../../backend/verify/graders/code/program-sandbox.ts';
import { GraderInfrastructureError } from '../../../backend/verify/graders/grader.ts';
import { gradeOf, programsIn, tryPrograms } from '../../verify/graders/setup.ts';
import { makeScratch } from '../../verify/setup.ts';

const { available, note } = await tryPrograms('javascript');
const tasks = gymTasks({ seed: 21, split: 'held-out', count: 6 });
const [task] = tasks as [GymTask];

/** Programs that count how often they are run. */
function counted(run: (program: Program) =>
  Promise<ProgramRun>): { readonly runs: Program[]; run(program: Program): Promise<ProgramRun> } {
  const runs: Program[] = [];
  return { runs, run: (program) => (runs.push(program), run(program)) };
}

const javascript = (source: string): string => `\`\`\`js\n${source}\n\`\`\``.replace('\n\n`', '\n`');
const ended = (output: string): ProgramRun => ({ end: 'ended', output, complaint: '', durationMs: 1 });

describe.runIf(available)(`grades of the gym, ${note}`, () => {
  it('verify the right solution of every kind and no wrong one', { timeout: 120_000 }, async () => {
    await using scratch = await makeScratch();
    const grades = new GymGrades(programsIn(scratch));
    for (const one of tasks) {
      const grader = grades.graderOf(one);
      expect(await gradeOf(grader, javascript(one.source)), one.id).toMatchObject({ verified: true, outcome: 'verified' });
      const wrong = one.wrong[0]?.source ?? '';
      expect(await gradeOf(grader, javascript(wrong)), one.id).toMatchObject({ verified: false, outcome: 'failed' });
      for (const source of [one.source, wrong]) {
        expect((await gradeOf(knownGrader(one), javascript(source))).verified).toBe((await gradeOf(grader,
          javascript(source))).verified);
      }
    }
  });

  it('run tests against mutants, and tidied code against cases', { timeout: 120_000 }, async () => {
    await using scratch = await makeScratch();
    const grades = new GymGrades(programsIn(scratch));
    for (const one of wantTasks({ seed: 21, split: 'held-out', count: 4, wants: ['tests', 'refactor'] })) {
      const grader = grades.graderOf(one);
      expect(await gradeOf(grader, javascript(one.source)), one.id).toMatchObject({ verified: true, outcome: 'verified' });
      for (const { source } of one.wrong.slice(-2)) expect(await gradeOf(grader, javascript(source)), one.id).toMatchObject({ verified: false, outcome: 'failed' });
    }
  });

  it('execute code that nobody has seen before', async () => {
    await using scratch = await makeScratch();
    const { functionName, cases } = task;
    const table = JSON.stringify(Object.fromEntries(cases.map(({ input, output }) => [input, JSON.parse(output) as unknown])));
    const own = `const ${functionName} = (...given) => (${table})[given.map((value) => JSON.stringify(value)).join('\\n')];`;
    expect(await gradeOf(new GymGrades(programsIn(scratch)).graderOf(task), javascript(own))).toMatchObject({ verified: true });
  });
});

describe.skipIf(available)(`grades of the gym in the sandbox: ${note}`, () => {
  it.skip('are not tried here', () => undefined);
});

describe('kept grades of the gym', () => {
  it('are made once for the same code, whatever is said around it', async () => {
    const programs = counted(() => Promise.resolve(ended('"wrong"')));
    const grader = new GymGrades(programs).graderOf(task);
    const [first, second] = await Promise.all([gradeOf(grader, `One.\n${javascript('1')}`),
      gradeOf(grader, `Two.\n${javascript('1')}`)]);
    expect(first).toEqual(second);
    expect(programs.runs).toHaveLength(1);
    await gradeOf(grader, javascript('2'));
    expect(programs.runs).toHaveLength(2);
  });

  it('are forgotten where the machine was to blame', async () => {
    const programs = counted(() => Promise.reject(new GraderInfrastructureError('There is no sandbox.')));
    const grader = new GymGrades(programs).graderOf(task);
    expect(await gradeOf(grader, javascript('1'))).toMatchObject({ outcome: 'infrastructure' });
    expect(await gradeOf(grader, javascript('1'))).toMatchObject({ outcome: 'infrastructure' });
    expect(programs.runs).toHaveLength(2);
  });

  it('are not lost to others when one who asked gives up', async () => {
    const gate = Promise.withResolvers<ProgramRun>();
    const grader = new GymGrades(counted(() => gate.promise)).graderOf(task);
    const abort = new AbortController();
    const [given, other] = [gradeOf(grader, javascript('1'), abort.signal), gradeOf(grader, javascript('1'))];
    const refused = expect(given).rejects.toThrow('enough');
    abort.abort(new Error('enough'));
    gate.resolve(ended('"wrong"'));
    await refused;
    expect(await other).toMatchObject({ outcome: 'failed' });
  });

  it('say that an answer without code is wrong', async () => {
    const programs = counted(() => Promise.resolve(ended('1')));
    expect(await gradeOf(new GymGrades(programs).graderOf(task), 'I do not know.')).toMatchObject({ verified: false,
      outcome: 'failed' });
    expect(programs.runs).toEqual([]);
  });
});
