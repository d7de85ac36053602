import { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import { planRunner } from '../../../backend/eval/execute-on-task.ts';
import type { RunPlan } from '../../../backend/eval/run-plan.ts';
import { GYM_PARAMETERS } from '../../../backend/lab/gym/gym-parameters.ts';
import { unservedPool } from '../../../backend/lab/gym/gym-pools.ts';
import { GymBook, type GymTask } from '../../../backend/lab/gym/gym-tasks.ts';
import { gymRule } from '../../../backend/lab/gym/gym-worker.ts';
import { NO_USAGE } from '../../../backend/protocol/token-counts.ts';
import type { WorkerConfig } from '../../../backend/protocol/worker-config.ts';
import { countTokens } from '../../../backend/simulator/simulated-model.ts';
import { skillsOf } from '../../../backend/simulator/skills.ts';
import { answerCode } from '../../../backend/verify/graders/answer-code.ts';
import { wholeGrade } from '../../../backend/verify/graders/grader.ts';
import type { Plan } from '../../../backend/workflow/plan.ts';
import type { LearnTask } from './learn-tasks.ts';
import type { HiddenPool } from './pools.ts';

export interface Played {
  readonly verified: boolean;
  readonly costUsd: number;
}

/**
 * Plans on the mined tasks, carried out by the product's executor with simulated workers. Who reads what, how a plan helps a writer and what a reviewer
 * finds follow the rules of the gym; the verdict on the last answer is what the real judge said of it.
 */
export class World {
  readonly pool: readonly WorkerConfig[];
  readonly #of: HiddenPool;
  readonly #tasks: ReadonlyMap<string, LearnTask>;
  readonly #rule: ReturnType<typeof gymRule>;

  constructor(of: HiddenPool, tasks: readonly LearnTask[]) {
    this.#of = of;
    this.#tasks = new Map(tasks.map((task) => [task.id, task]));
    this.#rule = gymRule(new GymBook(tasks.map(gymTaskOf)), { parameters: { ...GYM_PARAMETERS, wantSpread: 0 } });
    this.pool = unservedPool(of.workers.map(({ name, price }) => ({ name, wire: 'openai-chat', description: '', latency: { firstTokenMs: 0, tokensPerSecond: 1 }, price, skills: skillsOf([0, 0, 0]) })));
  }

  /** @param paid how many plans were paid for before, which is the time here: workers may change */
  async play(task: LearnTask, plan: Plan, { paid, luck }: { readonly paid: number; readonly luck: number }): Promise<Played> {
    const { verified, costUsd } = await this.#run(paid, luck)({
      id: task.id, question: questionOf(task), context: '',
      grader: { grade: ({ answer }) => Promise.resolve(wholeGrade(this.#isVerified(task, answer), 'As the judge said of this answer.')) },
    }, plan, { pool: this.pool, sample: 0, signal: NEVER });
    return { verified, costUsd };
  }

  #run(paid: number, luck: number): RunPlan {
    return planRunner((worker, messages, _sample) => {
      const hidden = this.#of.workers.find(({ name }) => name === worker.model);
      const task = this.#tasks.get(/^\[(.*?)\]/m.exec(messages.map(({ content }) => content).join('\n').split('<question>\n')[1] ?? '')?.[1] ?? '');
      if (!hidden || !task) throw new RangeError(`There is no simulated worker "${worker.model}", or it was sent no task.`);
      const skills = skillsOf(hidden.skill(task, paid));
      const answer = this.#rule({ name: hidden.name, skills, seed: luck }, { messages, sample: 0 });
      const text = typeof answer === 'string' ? answer : answer.text;
      const input = task.contextTokens + messages.reduce((sum, { content }) => sum + countTokens(content), 0);
      const output = countTokens(text) + (this.#answerIn(task, text)?.tokens ?? 0);
      const { inputPerMillion, outputPerMillion } = hidden.price;
      return Promise.resolve({ text, costUsd: (input * inputPerMillion + output * outputPerMillion) / 1e6, usage: { ...NO_USAGE, uncachedInput: input, output }, seconds: 0 });
    });
  }

  #answerIn(task: LearnTask, text: string): LearnTask['answers'][number] | undefined {
    const code = answerCode(text, 'javascript');
    return task.answers.find((_, index) => sourceOf(index) === code);
  }

  #isVerified(task: LearnTask, text: string): boolean {
    return this.#answerIn(task, text)?.verified ?? false;
  }
}

const NEVER = new AbortController().signal;

/** In the messages an answer stands for the change that it is. */
const sourceOf = (index: number): string => `answer ${index}\n`;

/** Workers recognise a task by its question, and two tasks may have equal ones. */
const questionOf = ({ id, question }: LearnTask): string => `[${id}] ${question}`;

function gymTaskOf(task: LearnTask): GymTask {
  const { id, kind, answers } = task;
  const random = new KeyedRandom('learn task', id);
  return {
    id, kind: 'strings', want: kind === 'write' ? 'code' : 'fix', form: 'code', judge: { by: 'cases' }, generator: kind, split: 'train', question: questionOf(task),
    functionName: 'it', difficulty: 0.35 + 0.3 * random.unit('difficulty'),
    source: sourceOf(0), approach: 'By the right way.', cases: [],
    wrong: answers.flatMap(({ is }, index) => (index === 0 ? [] : [{ idea: `By the wrong way ${index}.`, source: sourceOf(index), subtlety: is === 'none' ? 0 : random.unit(`subtlety ${index}`) }])),
  };
}
