import { describe, expect, it, vi } from 'vitest';
import { BUGS, type Bug } from '../../backend/simulator/families/all-families.ts';
import { sourceWith, type Kind } from '../../backend/simulator/families/family.ts';
import { WORKERS } from '../../backend/simulator/pool.ts';
import { KeyedRandom } from '../../backend/common/keyed-random.ts';
import { skillsOf } from '../../backend/simulator/skills.ts';
import { answerAsWorker } from '../../backend/simulator/worker-model.ts';
import { signature } from '../../backend/simulator/worker-texts.ts';
import type { Plan } from '../../backend/workflow/plan.ts';
import { workerMessages, type WorkerBriefing } from '../../backend/workflow/worker-messages.ts';
import { contextOf, isCorrect, successRate } from './play.ts';

/*
 * What the gym rests on: that planning matters, and why. All rates are over fixed seeds, so that they are the same at every run.
 */

// Thousands of answers, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const bugsOf = (...kinds: Kind[]): Bug[] => BUGS.filter(({ family }) => kinds.includes(family.kind));
const HARD = bugsOf('machines', 'parsing');
const EASY = bugsOf('numbers');
const [ATLAS, BIRCH, CEDAR, DUNE, EMBER] = [0, 1, 2, 3, 4] as const;
const pool = (): typeof WORKERS => WORKERS;

const PLAN = 'Find the cause and write a short plan. Do not write the code yet.';
const WRITE = 'Write the corrected file, following the diagnosis you are shown.';
const ALONE = 'Fix the bug and return the whole corrected file.';
const CHECK = 'Check the proposed file case by case, correct what is wrong and return the final file.';
const VAGUE = 'Solve the user question.';

const single = (worker: number, subtask: string): Plan => ({ modelIds: [worker], subtasks: [subtask], accessList: [[]] });
const planWriteCheck = (
  planner: number,
  writer: number,
  checker: number,
  accessList: Plan['accessList'] = [[], 'all', 'all'],
): Plan => ({
  modelIds: [planner, writer, checker],
  subtasks: [PLAN, WRITE, CHECK],
  accessList,
});

describe('which plan is best', () => {
  it('is plan-write-check on hard kinds, by far before one vague step', () => {
    const planned = successRate(HARD, planWriteCheck(ATLAS, BIRCH, ATLAS), pool);
    const vague = successRate(HARD, single(BIRCH, VAGUE), pool);
    expect(planned).toBeGreaterThan(0.5);
    expect(planned - vague).toBeGreaterThan(0.25);
  });

  it('is one step by a specialist on easy kinds, at a third of the calls', () => {
    const specialist = successRate(EASY, single(CEDAR, ALONE), pool);
    expect(specialist).toBeGreaterThan(0.8);
    expect(specialist).toBeGreaterThan(successRate(EASY, planWriteCheck(BIRCH, EMBER, BIRCH), pool));
  });

  it('depends on who does what', () => {
    const fitting = successRate(HARD, planWriteCheck(ATLAS, BIRCH, ATLAS), pool);
    const unfit = successRate(HARD, planWriteCheck(EMBER, ATLAS, EMBER), pool);
    expect(fitting - unfit).toBeGreaterThan(0.25);
  });

  it('depends on who may read what', () => {
    const read = successRate(HARD, planWriteCheck(ATLAS, EMBER, ATLAS), pool);
    const blind = successRate(HARD, planWriteCheck(ATLAS, EMBER, ATLAS, [[], [], []]), pool);
    expect(read - blind).toBeGreaterThan(0.15);
  });

  it('is several attempts and a judge where single skill is middling', () => {
    const middling = bugsOf('intervals', 'strings');
    const attempts: Plan = {
      modelIds: [BIRCH, EMBER, DUNE, ATLAS],
      subtasks: [ALONE, ALONE, ALONE, 'Compare the attempts, choose the correct one and return its file.'],
      accessList: [[], [], [], 'all'],
    };
    const judged = successRate(middling, attempts, pool);
    for (const worker of [BIRCH, EMBER]) expect(judged - successRate(middling, single(worker, ALONE), pool)).toBeGreaterThan(0.1);
  });

  it('differs from kind to kind: nobody is the best worker alone everywhere', () => {
    const kinds = [['numbers'], ['data'], ['machines']] as const;
    const best = kinds.map((kind) => {
      const rates = WORKERS.map((_, worker) => successRate(bugsOf(...kind), single(worker, ALONE), pool, 20));
      return rates.indexOf(Math.max(...rates));
    });
    expect(best).toEqual([CEDAR, DUNE, BIRCH]);
  });

  it('is nothing to be learned when skills are dealt out anew for every call', () => {
    const dealt = (seed: string) => (call: number) =>
      new KeyedRandom('deal', seed, call)
        .shuffled('workers', WORKERS)
        .map(({ skills }, index) => ({ name: WORKERS[index]?.name ?? '', skills }));
    let deal = 0;
    const shuffled = (call: number): ReturnType<ReturnType<typeof dealt>> => dealt(String((deal += 1)))(call);
    const spread = (who: typeof pool | typeof shuffled): number => {
      const rates = WORKERS.map((_, worker) => successRate(EASY, single(worker, ALONE), who, 30));
      return Math.max(...rates) - Math.min(...rates);
    };
    expect(spread(pool)).toBeGreaterThan(0.25);
    expect(spread(shuffled)).toBeLessThan(0.1);
    const [fitting, unfit] = [planWriteCheck(ATLAS, BIRCH, ATLAS), planWriteCheck(EMBER, ATLAS, EMBER)];
    expect(Math.abs(successRate(HARD, fitting, shuffled, 30) - successRate(HARD, unfit, shuffled, 30))).toBeLessThan(0.06);
  });
});

/** Share of correct answers of one worker to one kind of message, over all hard bugs and some seeds. */
function rateOf(briefing: (bug: Bug) => Partial<WorkerBriefing>, name = 'sim-somebody', skill = 0.75): number {
  const skills = skillsOf([skill, skill, skill]);
  const answers = HARD.flatMap((bug) =>
    Array.from({ length: 20 }, (_, seed) => {
      const messages = workerMessages({
        question: bug.variant.symptoms[0] ?? '',
        context: contextOf(bug, []),
        editsFiles: true,
        inputs: [],
        subtask: ALONE,
        ...briefing(bug),
      });
      return isCorrect(bug, answerAsWorker({ name, skills, seed }, { messages }));
    }),
  );
  return answers.filter(Boolean).length / answers.length;
}

const stepWith = (output: string): WorkerBriefing['inputs'] => [
  { step: { index: 0, worker: 0, subtask: PLAN, reads: [], readsPreviousRound: false }, output },
];
const otherVariant = ({ family, variant }: Bug): Bug['variant'] => family.variants.find((other) => other !== variant) ?? variant;
const fileOf = (bug: Bug, variants: Bug['family']['variants']): string =>
  `\`\`\`js ${bug.family.path}\n${sourceWith(bug.family, variants)}\`\`\``;

describe('a simulated worker', () => {
  const alone = rateOf(() => ({}));

  it('writes better with a right plan in view, and worse with a wrong one', () => {
    const right = rateOf((bug) => ({ inputs: stepWith(`Cause: ${bug.variant.diagnosis}.`) }));
    const wrong = rateOf((bug) => ({ inputs: stepWith(`Cause: ${otherVariant(bug).diagnosis}.`) }));
    expect(right - alone).toBeGreaterThan(0.15);
    expect(alone - wrong).toBeGreaterThan(0.15);
  });

  it('writes worse with much irrelevant text in view', () => {
    const distracted = rateOf((bug) => ({
      context: `${contextOf(bug, [])}\n${'Minutes of a meeting about something else.\n'.repeat(900)}`,
    }));
    expect(alone - distracted).toBeGreaterThan(0.1);
  });

  it('writes worse where it cannot see the module', () => {
    const blind = rateOf((bug) => ({ context: `${bug.family.path} is where it happens.` }));
    expect(alone - blind).toBeGreaterThan(0.1);
  });

  it('writes worse when it is told vaguely what to do', () => {
    expect(alone - rateOf(() => ({ subtask: VAGUE }))).toBeGreaterThan(0.05);
  });

  it('writes better with the feedback of failed tests in view', () => {
    const feedback = "The project's tests do not pass with this answer.";
    const [without, withFeedback] = [{}, { previousRound: { outputs: [], feedback } }].map((briefing) =>
      rateOf(() => briefing, 'sim-good', 0.9),
    );
    expect((withFeedback ?? 0) - (without ?? 0)).toBeGreaterThan(0.05);
  });

  it('does better the more skill it has', () => {
    const rates = [0.4, 0.6, 0.8, 0.95].map((skill) => rateOf(() => ({}), 'sim-somebody', skill));
    expect(rates).toEqual([...rates].sort((a, b) => a - b));
  });

  it('finds more faults in the code of others than in its own', () => {
    const wrong = (bug: Bug): WorkerBriefing['inputs'] =>
      stepWith(`${signature('sim-author')}\n\n${fileOf(bug, [otherVariant(bug)])}`);
    const review = (bug: Bug): Partial<WorkerBriefing> => ({ inputs: wrong(bug), subtask: CHECK });
    expect(rateOf(review, 'sim-other', 0.9) - rateOf(review, 'sim-author', 0.9)).toBeGreaterThan(0.05);
  });

  it('mostly keeps correct code when it checks it, and breaks it now and then', () => {
    const kept = rateOf((bug) => ({ inputs: stepWith(fileOf(bug, [])), subtask: CHECK }), 'sim-somebody', 0.5);
    expect(kept).toBeGreaterThan(0.85);
    expect(kept).toBeLessThan(1);
  });

  it('does not repeat an answer that failed the tests', () => {
    for (const bug of HARD) {
      const failed = fileOf(bug, [otherVariant(bug)]);
      const [step] = stepWith(failed);
      const messages = workerMessages({
        question: bug.variant.symptoms[0] ?? '',
        context: contextOf(bug),
        editsFiles: true,
        inputs: [],
        previousRound: { outputs: step ? [step] : [], feedback: "The project's tests do not pass with this answer." },
        subtask: CHECK,
      });
      for (let seed = 0; seed < 10; seed += 1) {
        expect(answerAsWorker({ name: 'sim-weak', skills: skillsOf([0.1, 0.1, 0.1]), seed }, { messages })).not.toContain(failed);
      }
    }
  });

  it('gives a plan without code when it is asked for a plan', () => {
    const [bug] = HARD;
    if (!bug) throw new Error('there are no hard bugs');
    const messages = workerMessages({
      question: bug.variant.symptoms[0] ?? '',
      context: contextOf(bug),
      editsFiles: true,
      inputs: [],
      subtask: PLAN,
    });
    const plan = answerAsWorker({ name: 'sim-somebody', skills: skillsOf([1, 1, 1]), seed: 1 }, { messages });
    expect(plan).toContain(bug.variant.diagnosis);
    expect(plan).not.toContain('```');
  });

  it('says plainly that it knows nothing else', () => {
    const messages = [{ role: 'user' as const, content: 'How do I centre a div?' }];
    const answer = answerAsWorker({ name: 'sim-somebody', skills: skillsOf([1, 1, 1]), seed: 1 }, { messages });
    expect(answer).toMatch(/^> Simulated by sim-somebody/);
    expect(answer).toContain('only knows the modules of the sample project');
  });
});
