import { beforeAll, describe, expect, it } from 'vitest';
import { GymGrades, knownGrader } from '../../../backend/lab/gym/gym-grades.ts';
import { TRAINING_POOL } from '../../../backend/lab/gym/gym-pools.ts';
import { GymBook, resultOf, type GymTask } from '../../../backend/lab/gym/gym-tasks.ts';
import { gymRule } from '../../../backend/lab/gym/gym-worker.ts';
import { runPlanInProcess } from '../../../backend/lab/gym/run-plan-in-process.ts';
import { NEW_WANTS, type Want } from '../../../backend/lab/gym/wants/want.ts';
import { wantPlans } from '../../../backend/lab/gym/wants/want-plans.ts';
import { wantTasks } from '../../../backend/lab/gym/wants/want-tasks.ts';
import type { Grade } from '../../../backend/verify/graders/grader.ts';
import type { Program, ProgramRun } from '../../../backend/verify/graders/code/program-sandbox.ts';
import { mean } from '../../../backend/train/statistics/statistics.ts';
import type { Plan } from '../../../backend/workflow/plan.ts';
import { poolOf } from '../../eval/pool.ts';

const tasks = wantTasks({ seed: 1, split: 'train', count: 90 });
const heldOut = wantTasks({ seed: 1, split: 'held-out', count: 60 });
const of = (want: Want): GymTask[] => tasks.filter((task) => task.want === want);
const first = (want: Want): GymTask => of(want)[0] as GymTask;
const signal = new AbortController().signal;
const block = (source: string): string => `\`\`\`js\n${source.replace(/\n?$/, '\n')}\`\`\``;
const inForm = ({ form }: GymTask, source: string): string => (form === 'code' ? block(source) : source);

describe('tasks of other wants', () => {
  it('ask for each want in turn, in both splits, and are told apart by question and id', () => {
    for (const split of [tasks, heldOut]) {
      for (const want of NEW_WANTS) expect(split.filter((task) => task.want === want).length, want).toBeGreaterThanOrEqual(split.length / NEW_WANTS.length - 1);
      expect(new Set(split.map(({ question }) => question)).size).toBe(split.length);
      expect(new Set(split.map(({ id }) => id)).size).toBe(split.length);
    }
  });

  it('are the same for the same seed and others for another', () => {
    const drawn = (seed: number): GymTask[] => wantTasks({ seed, split: 'train', count: 18 });
    expect(drawn(5)).toEqual(drawn(5));
    expect(drawn(5).map(({ id }) => id)).not.toEqual(drawn(6).map(({ id }) => id));
  });

  it('share no question of training and held-out tasks', () => {
    expect(heldOut.filter(({ question }) => tasks.some((task) => task.question === question))).toEqual([]);
  });

  it('know wrong answers that differ from the right one', () => {
    for (const { source, wrong, id } of [...tasks, ...heldOut]) {
      expect(wrong.length, id).toBeGreaterThan(0);
      expect(wrong.filter((one) => one.source === source), id).toEqual([]);
    }
  });

  it('report in a question of a fault what the planted code really returns', () => {
    for (const { question, functionName, source, wrong } of of('fix')) {
      const planted = wrong.find((one) => question.includes(one.source));
      expect(planted).toBeDefined();
      const [, given] = new RegExp(`${functionName}\\((.*)\\)`).exec(question.split('```')[0] ?? '') ?? [];
      const call = JSON.parse(`[${given}]`) as unknown[];
      expect(question).toContain(resultOf(planted?.source ?? '', functionName, call));
      expect(question).toContain(resultOf(source, functionName, call));
    }
  });
});

/** Runs known programs without a sandbox: the answers here are this folder's own. */
const programs = {
  run: ({ source, driverArguments: [, name = ''], input }: Program): Promise<ProgramRun> => {
    const lines = input.split('\n').map((line) => resultOf(`const require = (name) => process.getBuiltinModule(name);\n${source}`, name,
      (JSON.parse(line) as string).split('\n').map((argument): unknown => JSON.parse(argument))));
    return Promise.resolve({ end: 'ended', output: `${lines.join('\n')}\n`, complaint: '', durationMs: 1 });
  },
};

describe('graders of other wants', () => {
  const grades = new GymGrades(programs);
  const gradeOf = (task: GymTask, answer: string): Promise<Grade> => grades.graderOf(task).grade({ answer, signal });

  it.each(NEW_WANTS)('verify the right answer to "%s" and none of the wrong ones, as the known answers say', async (want) => {
    for (const task of of(want).slice(0, 6)) {
      const right = inForm(task, task.source);
      expect(await gradeOf(task, right), task.id).toMatchObject({ verified: true });
      expect(await knownGrader(task).grade({ answer: right, signal })).toMatchObject({ verified: true });
      for (const { source, idea } of task.wrong) {
        expect(await gradeOf(task, inForm(task, source)), `${task.id}: ${idea}`).toMatchObject({ verified: false });
        expect(await knownGrader(task).grade({ answer: inForm(task, source), signal })).toMatchObject({ verified: false });
      }
    }
  });

  it('score tests by the share of mutants that they tell from the right source', async () => {
    const task = of('tests').find(({ wrong }) => wrong.length > 3) as GymTask;
    const few = await gradeOf(task, block(task.wrong.at(-1)?.source ?? ''));
    expect(few.score).toBeGreaterThan(0);
    expect(few.score).toBeLessThan(1);
    expect(await gradeOf(task, block('const assert = require(\'node:assert/strict\');\nassert.fail();\n'))).toMatchObject({ verified: false });
    expect(await gradeOf(task, block('// no tests\n'))).toMatchObject({ verified: false });
  });

  it('do not take code that keeps its behaviour for tidied up where nothing has shrunk', async () => {
    const task = first('refactor');
    const grown = task.wrong.at(-1)?.source ?? '';
    expect((await gradeOf(task, block(grown))).reason).toMatch(/characters/);
    expect(await gradeOf(task, block(task.source))).toMatchObject({ verified: true });
  });

  it('want words for an explanation, all facts of it, and take the last statement of each', async () => {
    const task = first('explain');
    expect(await gradeOf(task, block(task.source))).toMatchObject({ verified: false });
    const lines = task.source.split('\n');
    expect(await gradeOf(task, lines.slice(0, -1).join('\n'))).toMatchObject({ verified: false });
    expect(await gradeOf(task, `${task.wrong[0]?.source}\n\nThat was wrong. ${task.source}`)).toMatchObject({ verified: true });
  });

  it('want a reply to small talk short', async () => {
    const task = first('talk');
    expect(await gradeOf(task, 'You are welcome.')).toMatchObject({ verified: true });
    for (const answer of ['', 'You are welcome.\n\n1. First …', block('reply()'), 'thanks '.repeat(60)]) expect(await gradeOf(task, answer), answer).toMatchObject({ verified: false });
  });
});

/** How often each shape of plan is right on hard subjects, with the workers that the fixed pool has for the roles. */
async function sharesOf(want: Exclude<Want, 'code'>): Promise<Record<string, number>> {
  const pool = poolOf(TRAINING_POOL);
  const drawn = wantTasks({ seed: 3, split: 'train', count: 72, wants: [want] });
  const own = drawn.filter(({ kind }) => kind === 'parsing' || kind === 'machines');
  const rule = gymRule(new GymBook(drawn));
  const shapes = Object.entries(wantPlans(want, { planner: 0, writer: 1, checker: 2 }));
  const shares = shapes.map(async ([shape, plan]) => {
    const outcomes = await Promise.all([1, 2, 3, 4].flatMap((seed) => own.map((task) =>
      runPlanInProcess({ seed, workers: TRAINING_POOL, rule })({ ...task, context: '', grader: knownGrader(task) }, plan, { pool, sample: 0, signal }))));
    return [shape, mean(outcomes.map(({ verified }) => Number(verified)))] as const;
  });
  return Object.fromEntries(await Promise.all(shares));
}

describe('plans for other wants', () => {
  const shares = new Map<Want, Record<string, number>>();
  beforeAll(async () => {
    for (const want of NEW_WANTS) shares.set(want, await sharesOf(want));
  }, 120_000);
  const shareOf = (want: Want, shape: string): number => shares.get(want)?.[shape] ?? 0;

  it('gain nothing by more than one step where somebody only talks', () => {
    expect(shareOf('talk', 'alone')).toBeGreaterThan(0.95);
    for (const shape of ['plan, write', 'write, check', 'plan, write, check']) expect(shareOf('talk', shape), shape).toBeLessThanOrEqual(shareOf('talk', 'alone'));
    expect(shareOf('talk', 'write, check')).toBeLessThan(0.1);
  });

  it('gain little by more steps where something is to be explained', () => {
    for (const shape of ['plan, write', 'write, check', 'plan, write, check']) expect(shareOf('explain', shape), shape).toBeLessThan(shareOf('explain', 'alone') + 0.08);
  });

  it('gain much by a plan where something is to be added, mended or tested, and less where code is to be tidied up', () => {
    const gain = (want: Want): number => shareOf(want, 'plan, write') - shareOf(want, 'alone');
    for (const want of ['feature', 'fix', 'tests'] as const) expect(gain(want), want).toBeGreaterThan(0.15);
    for (const want of ['feature', 'tests'] as const) expect(gain('refactor'), want).toBeLessThan(gain(want) - 0.1);
  });

  it('gain nothing by a check of tests, whose gaps are hard to see', () => {
    expect(shareOf('tests', 'write, check')).toBeLessThan(shareOf('tests', 'plan, write') - 0.2);
  });
});

describe('a worker that minds', () => {
  const plan = (...steps: readonly (readonly [string, readonly number[]])[]): Plan => ({ modelIds: steps.map(() => 1), subtasks: steps.map(([subtask]) => subtask), accessList: steps.map(([, access]) => access) });
  const share = async (want: Want, tried: Plan, minds = true): Promise<number> => {
    const run = runPlanInProcess({ seed: 1, workers: TRAINING_POOL, rule: gymRule(new GymBook(tasks), { minds }) });
    const outcomes = await Promise.all(of(want).map((task) => run({ ...task, context: '', grader: knownGrader(task) }, tried, { pool: poolOf(TRAINING_POOL), sample: 0, signal })));
    return mean(outcomes.map(({ score }) => score));
  };

  it('earns nothing where it is to apply, check or compare what it does not see', async () => {
    for (const subtask of ['Apply the plan you are shown and return the whole code.', 'Check the code case by case and return it whole.', 'Compare the attempts and return the best one whole.']) {
      expect(await share('feature', plan([subtask, []])), subtask).toBe(0);
    }
    expect(await share('feature', plan(['Apply the plan you are shown and return the whole code.', []]), false)).toBeGreaterThan(0);
    // One attempt is too few to compare.
    expect(await share('feature', plan(['Write the new function and return the whole code.', []], ['Compare the attempts and return the best one whole.', [0]]))).toBe(0);
  });

  it('finds no fault where none is reported, and looks for one where one is', async () => {
    const said = (want: Want): string => {
      const task = first(want);
      const answer = gymRule(new GymBook(tasks))({ name: 'sim-one', skills: TRAINING_POOL[0]!.skills, seed: 1 },
        { messages: [{ role: 'user', content: `<question>\n${task.question}\n</question>\n\nYour subtask: Find the wrong line and write a short plan. No code.` }] });
      return typeof answer === 'string' ? answer : answer.text;
    };
    for (const want of ['feature', 'explain', 'tests', 'refactor'] as const) expect(said(want), want).toMatch(/found none/);
    expect(said('fix')).not.toMatch(/found none/);
  });

  it('gives words where words are asked for, and code where code is, and earns nothing where that is not what was wanted', async () => {
    expect(await share('explain', plan(['Write the function and return the whole file.', []]))).toBe(0);
    expect(await share('feature', plan(['Explain the function in words. Change no code.', []]))).toBe(0);
    expect(await share('explain', plan(['Explain the function in words. Change no code.', []]))).toBeGreaterThan(0.3);
  });
});
