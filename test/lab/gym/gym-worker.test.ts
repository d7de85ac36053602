import { describe, expect, it } from 'vitest';
import { GymBook, gymTasks, type GymTask } from '../../../backend/lab/gym/gym-tasks.ts';
import { gymRule, withoutCharacter } from '../../../backend/lab/gym/gym-worker.ts';
import { skillsOf, type SkillRow } from '../../../backend/simulator/skills.ts';
import { signature } from '../../../backend/simulator/worker-texts.ts';
import { answerCode } from '../../../backend/verify/graders/answer-code.ts';
import { SUBTASKS } from '../../../backend/eval/plans.ts';
import { workerMessages } from '../../../backend/workflow/worker-messages.ts';

const tasks = gymTasks({ seed: 11, split: 'train', count: 180 });
const rule = gymRule(new GymBook(tasks));

interface Asked {
  readonly skills?: SkillRow;
  readonly subtask: string;
  readonly outputs?: readonly string[];
  readonly name?: string;
  readonly sample?: number;
  readonly seed?: number;
}

function ask(task: GymTask, { skills = [0.7, 0.7, 0.7], subtask, outputs = [], name = 'sim-one', sample = 0,
  seed = 1 }: Asked): string {
  const inputs = outputs.map((output, index) => ({ step: { index, worker: 9, subtask: '…', reads: [],
    readsPreviousRound: false }, output }));
  const messages = workerMessages({ question: task.question, context: '', editsFiles: false, inputs, subtask });
  return textOf(rule({ name, skills: skillsOf(skills), seed }, { messages, sample }));
}

const textOf = (answer: ReturnType<typeof rule>): string => (typeof answer === 'string' ? answer : answer.text);

const codeIn = (answer: string): string | undefined => answerCode(answer, 'javascript');
const block = (source: string): string => `\`\`\`js\n${source}\`\`\``;

/** Share of right code over all tasks and two samples. */
function rightShare(asked: (task: GymTask) => Asked): number {
  const answers = tasks.flatMap((task) => [0, 1].map((sample) => codeIn(ask(task, { sample, ...asked(task) })) === task.source));
  return answers.filter(Boolean).length / answers.length;
}

const [write] = SUBTASKS.alone;
const [check] = SUBTASKS.check;

describe('a worker of the gym', () => {
  it('says in its first line that it is simulated', () => {
    for (const subtasks of Object.values(SUBTASKS)) {
      for (const subtask of subtasks) expect(ask(tasks[0] as GymTask, { subtask }).split('\n')[0]).toBe(signature('sim-one'));
    }
  });

  it('gives equal answers to equal calls, and others for another sample, seed or name', () => {
    const answers = (asked: Partial<Asked>): string[] => tasks.slice(0,
      30).map((task) => ask(task, { subtask: write, ...asked }));
    expect(answers({})).toEqual(answers({}));
    for (const other of [{ sample: 1 }, { seed: 2 }, { name: 'sim-two' }]) expect(answers(other)).not.toEqual(answers({}));
  });

  it('knows nothing of other questions', () => {
    const stranger = { ...(tasks[0] as GymTask), question: 'What is the capital of France?' };
    expect(ask(stranger, { subtask: write })).toContain('none of them');
  });

  it('answers with the right solution or a plausible wrong one when it writes', () => {
    for (const task of tasks) {
      expect([task.source, ...task.wrong.map(({ source }) => source)]).toContain(codeIn(ask(task, { subtask: write })));
    }
  });

  it('writes better with more skill, and worse when it is not told what to do', () => {
    const [low, high] = [0.5, 0.8].map((skill) => rightShare(() => ({ subtask: write, skills: [0, skill, 0] }))) as [number,
      number];
    expect(high).toBeGreaterThan(low + 0.2);
    expect(rightShare(() => ({ subtask: 'Solve the user question.', skills: [0, 0.7, 0] }))).toBeLessThan(
      rightShare(() => ({ subtask: write, skills: [0, 0.7, 0] })) - 0.1,
    );
  });

  it('gives a plan without code, right or wrong by its skill', () => {
    const shares = [0.4, 0.9].map((skill) => {
      const plans = tasks.map((task) => ({ task, text: ask(task, { subtask: SUBTASKS.plan[0], skills: [skill, 0, 0] }) }));
      for (const { task, text } of plans) {
        expect(codeIn(text)).toBeUndefined();
        expect([task.approach, ...task.wrong.map(({ idea }) => idea)].filter((idea) => text.includes(idea))).toHaveLength(1);
      }
      return plans.filter(({ task, text }) => text.includes(task.approach)).length / plans.length;
    }) as [number, number];
    expect(shares[1]).toBeGreaterThan(shares[0] + 0.3);
  });

  it('writes better with a right plan in view and worse with a wrong one, which it then follows', () => {
    const withPlan = (plan: (task: GymTask) => string): number =>
      rightShare((task) => ({ subtask: SUBTASKS.write[0], outputs: [plan(task)] }));
    const without = rightShare(() => ({ subtask: write }));
    expect(withPlan(({ approach }) => approach)).toBeGreaterThan(without + 0.1);
    expect(withPlan(({ wrong }) => wrong[0]?.idea ?? '')).toBeLessThan(without - 0.1);
    const [task] = tasks as [GymTask];
    const [misled] = task.wrong;
    expect(codeIn(ask(task, { subtask: SUBTASKS.write[0], outputs: [misled?.idea ?? ''],
      skills: [0, 0, 0] }))).toBe(misled?.source);
  });

  it('is put off by irrelevant text', () => {
    const noise = 'We met on Tuesday and talked about the weather. '.repeat(80);
    expect(rightShare(() => ({ subtask: write, outputs: [noise] }))).toBeLessThan(rightShare(() => ({ subtask: write })) - 0.1);
  });

  it('tends to take over an attempt that it sees when it should write', () => {
    const copied = tasks.filter((task) => {
      const source = task.wrong[0]?.source ?? '';
      return codeIn(ask(task, { subtask: write, outputs: [block(source)], skills: [0, 0.9, 0] })) === source;
    });
    expect(copied.length / tasks.length).toBeGreaterThan(0.5);
  });

  it('repairs faulty code when it checks, more often that of others than its own', () => {
    const faulty = (author: string) => (task: GymTask): Asked =>
      ({ subtask: check, skills: [0, 0.9, 0.8], outputs: [`${signature(author)}\n\n${block(task.wrong[0]?.source ?? '')}`] });
    const others = rightShare(faulty('sim-two'));
    expect(others).toBeGreaterThan(0.3);
    expect(rightShare(faulty('sim-one'))).toBeLessThan(others - 0.05);
  });

  it('sometimes breaks good code, the more often the less it can check', () => {
    const good = (skill: number): number => rightShare(({ source }) =>
      ({ subtask: check, skills: [0, 0.7, skill], outputs: [block(source)] }));
    expect(good(1)).toBeGreaterThan(0.9);
    expect(good(0.3)).toBeLessThan(good(1) - 0.1);
  });

  it('chooses among attempts', () => {
    const skills: SkillRow = [0, 0, 0.95];
    const chosen = rightShare(({ source, wrong }) => ({
      subtask: SUBTASKS.judge[0], skills, outputs: [wrong[0]?.source ?? '', source, wrong[1]?.source ?? ''].map(block),
    }));
    expect(chosen).toBeGreaterThan(0.6);
  });

  it('says so when it is to check and sees no code, and wrote unasked before workers minded', () => {
    const heedless = gymRule(new GymBook(tasks), { minds: false });
    for (const task of tasks.slice(0, 20)) {
      expect(ask(task, { subtask: check })).toMatch(/cannot do this/);
      const messages = workerMessages({ question: task.question, context: '', editsFiles: false, inputs: [], subtask: check });
      expect(codeIn(textOf(heedless({ name: 'sim-one', skills: skillsOf([0.7, 0.7, 0.7]), seed: 1 }, { messages })))).toBeDefined();
    }
  });

  it('cannot be learned of where skills are drawn anew for every call', () => {
    const characterless = withoutCharacter(rule);
    const right = (write: number): number => tasks.filter((task) => {
      const messages = workerMessages({ question: task.question, context: '', editsFiles: false, inputs: [],
        subtask: SUBTASKS.alone[0] });
      return codeIn(textOf(characterless({ name: 'sim-one', skills: skillsOf([0, write, 0]), seed: 1 }, { messages }))) === task.source;
    }).length;
    expect(right(0)).toBe(right(1));
  });
});
