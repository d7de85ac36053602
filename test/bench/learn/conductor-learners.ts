import type { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import { mostSteps } from '../../../backend/conductor/plan/read-plan.ts';
import type { ShapeStep } from '../../../backend/conductor/plan/shape.ts';
import { readQuestion } from '../../../backend/conductor/question/read-question.ts';
import type { WorkerConfig } from '../../../backend/protocol/worker-config.ts';
import { PlanValue, type JudgedPlan } from '../../../backend/records/plan-value.ts';
import { planByRecords, valuedStep } from '../../../backend/solve/plan-by-records.ts';
import { alone, type Learner } from './learner.ts';
import { subjectOf, type LearnTask } from './learn-tasks.ts';
import { Draws } from './random-numbers.ts';
import type { Played } from './world.ts';

type Steps = readonly ShapeStep[];
/** Plans that conductor-mini sampled for the task. */
export type Sampled = (task: LearnTask) => readonly Steps[];

/** Plans as conductor-mini samples them. It learns nothing. */
export class AsSampled implements Learner {
  readonly #sampled: Sampled;

  constructor(sampled: Sampled) {
    this.#sampled = sampled;
  }

  next(task: LearnTask, random: KeyedRandom): Steps {
    return random.pick('sampled', this.#sampled(task)) ?? alone(0);
  }

  learn(): void {}

  best(task: LearnTask, random: KeyedRandom): Steps {
    return this.next(task, random);
  }
}

/** So many plans are learned from one by one, then a few at once, which takes less time. Solve learns from each. */
const FITTED_EACH = 100;
const FIT_EVERY = 5;

/** One of conductor-mini's plans, or what records choose in its place, as Solve chooses. */
export class ChosenByRecords implements Learner {
  readonly #plans: JudgedPlan[] = [];
  readonly #sampled: Sampled;
  readonly #pool: readonly WorkerConfig[];
  #value = new PlanValue([]);

  constructor(pool: readonly WorkerConfig[], sampled: Sampled) {
    this.#pool = pool;
    this.#sampled = sampled;
  }

  next(task: LearnTask, random: KeyedRandom): Steps {
    const draws = new Draws(random, 'value');
    return this.#chosen(task, random, () => draws.normal());
  }

  learn(task: LearnTask, steps: Steps, { verified }: Played): void {
    this.#plans.unshift({ ...subjectOf(task), isRight: verified, steps: steps.map((step) => valuedStep(step, this.#pool)) });
    const { length } = this.#plans;
    if (length <= FITTED_EACH || length % FIT_EVERY === 0) this.#value = new PlanValue(this.#plans, this.#value);
  }

  best(task: LearnTask, random: KeyedRandom): Steps {
    return this.#chosen(task, random, undefined);
  }

  #chosen(task: LearnTask, random: KeyedRandom, normal: (() => number) | undefined): Steps {
    const sampled = random.pick('sampled', this.#sampled(task)) ?? alone(0);
    if (this.#value.workers.size === 0) return sampled;
    const most = mostSteps(readQuestion(task.question, { inProject: true }), 0);
    return planByRecords(sampled, { belief: this.#value.belief(subjectOf(task), normal), pool: this.#pool, mostSteps: most });
  }
}
