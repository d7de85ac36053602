import { createHash } from 'node:crypto';
import { KeyedRandom } from '../../../common/keyed-random.ts';
import { gymTasks, type GymTask, type GymTasksOptions } from '../gym-tasks.ts';
import type { Split } from '../generators/generator.ts';
import { GYM_PARAMETERS } from '../gym-parameters.ts';
import { explainTask } from './explain-task.ts';
import { featureTask } from './feature-task.ts';
import { fixTask } from './fix-task.ts';
import type { MadeOf, MakeTask } from './made-of.ts';
import { refactorTask } from './refactor-task.ts';
import { talkTask } from './talk-task.ts';
import { testsTask } from './tests-task.ts';
import { NEW_WANTS, type Want } from './want.ts';

const MAKERS: Readonly<Record<Exclude<Want, 'code'>, MakeTask>> = {
  fix: fixTask, feature: featureTask, refactor: refactorTask, tests: testsTask, explain: explainTask, talk: talkTask,
};

/** Exercises for these tasks are drawn with seeds of their own, so that no training asks for the same function twice. */
const SEED = 500_000;

export interface WantTasksOptions extends GymTasksOptions {
  readonly wants?: readonly Exclude<Want, 'code'>[] | undefined;
}

/** There are so many different exercises. */
const MOST_EXERCISES: Readonly<Record<Split, number>> = { 'train': 600, 'held-out': 240 };

/** Draws for a question that is new. */
const MAX_DRAWS = 20;

/** Tasks of each want in turn, made of exercises of the split. The same seed gives the same tasks. @throws RangeError if there are not that many */
export function wantTasks({ seed, split, count, wants = NEW_WANTS }: WantTasksOptions): GymTask[] {
  const tasks: GymTask[] = [];
  const asked = new Set<string>();
  for (const [index, exercise] of gymTasks({ seed: SEED + seed, split, count: Math.min(MOST_EXERCISES[split], 2 * count) }).entries()) {
    if (tasks.length === count) break;
    // Exercises come from each subject in turn: so every want meets all of them.
    const want = wants[(tasks.length + Math.floor(tasks.length / wants.length)) % wants.length] as Exclude<Want, 'code'>;
    for (let draw = 0; draw < MAX_DRAWS; draw += 1) {
      const made = MAKERS[want](exercise, new KeyedRandom('want', seed, split, index, draw));
      if (!made) break;
      if (asked.has(made.question)) continue;
      asked.add(made.question);
      tasks.push(wantTask(want, exercise, made));
      break;
    }
  }
  if (tasks.length < count) throw new RangeError(`There are no ${count} different tasks of this split, only ${tasks.length}: ask for fewer.`);
  return tasks;
}

function wantTask(want: Exclude<Want, 'code'>, { generator, split, kind, difficulty }: GymTask, made: MadeOf): GymTask {
  const digest = createHash('sha256').update(JSON.stringify([made.question, made.source])).digest('hex').slice(0, 10);
  return {
    ...made, id: `${want}-${digest}`, generator: `${want}: ${generator}`, split, kind, want, difficulty: difficulty + GYM_PARAMETERS.wants[want].harder,
  };
}
