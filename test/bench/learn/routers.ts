import type { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import type { ShapeStep } from '../../../backend/conductor/plan/shape.ts';
import { alone, highest, type Learner } from './learner.ts';
import { cellOf, type LearnTask } from './learn-tasks.ts';
import { Draws } from './random-numbers.ts';
import type { Played } from './world.ts';

interface Counts {
  right: number;
  all: number;
}

/** Gives each task to one worker, by what was counted of workers for tasks of its kind. */
abstract class Router implements Learner {
  readonly workers: number;
  readonly #counts = new Map<string, Counts[]>();

  constructor(workers: number) {
    this.workers = workers;
  }

  /** What is counted together. */
  protected keyOf(task: LearnTask): string {
    return cellOf(task);
  }

  protected abstract scores(counts: readonly Counts[], random: KeyedRandom): readonly number[];

  next(task: LearnTask, random: KeyedRandom): readonly ShapeStep[] {
    return alone(highest(this.scores(this.#of(task), random), random, 'router'));
  }

  learn(task: LearnTask, [step]: readonly ShapeStep[], { verified }: Played): void {
    const counts = this.#of(task)[step?.worker ?? 0];
    if (!counts) return;
    counts.all += 1;
    counts.right += Number(verified);
  }

  best(task: LearnTask, random: KeyedRandom): readonly ShapeStep[] {
    return alone(highest(this.#of(task).map(expected), random, 'router'));
  }

  #of(task: LearnTask): Counts[] {
    const key = this.keyOf(task);
    const known = this.#counts.get(key) ?? Array.from({ length: this.workers }, () => ({ right: 0, all: 0 }));
    this.#counts.set(key, known);
    return known;
  }
}

const expected = ({ right, all }: Counts): number => (right + 1) / (all + 2);

/** Thompson's sampling with uniform priors. */
export class ThompsonRouter extends Router {
  protected scores(counts: readonly Counts[], random: KeyedRandom): number[] {
    const draws = new Draws(random, 'thompson');
    return counts.map(({ right, all }) => draws.beta(1 + right, 1 + all - right));
  }
}

/** UCB1 (P. Auer, N. Cesa-Bianchi and P. Fischer, 2002). */
export class UcbRouter extends Router {
  protected scores(counts: readonly Counts[]): number[] {
    const total = counts.reduce((sum, { all }) => sum + all, 0);
    return counts.map(({ right, all }) => (all === 0 ? Infinity : right / all + Math.sqrt((2 * Math.log(total)) / all)));
  }
}

/** The worker with the best record in all, whatever the task: it tries nothing out. */
export class BestByRecord extends Router {
  protected override keyOf(): string {
    return '';
  }

  protected scores(counts: readonly Counts[]): number[] {
    return counts.map(expected);
  }
}
