import { KeyedRandom } from '../../common/keyed-random.ts';
import { MAX_STEPS, type Access, type Plan } from '../../workflow/plan.ts';
import { BASELINES, type Contestant } from '../contestant.ts';
import { SUBTASKS, type Phrasebook, type SubtaskKind } from '../plans.ts';

const KINDS_OF_SUBTASK = Object.keys(SUBTASKS) as [SubtaskKind, ...SubtaskKind[]];

/** Answers each task by a random plan: what planning is worth is the distance from it. */
export function randomPlans(workerCount: number, words: Phrasebook = SUBTASKS): Contestant {
  return {
    name: BASELINES.random,
    answer: (task, play, seed) => play(randomPlan(workerCount, new KeyedRandom('random plan', seed, task.id), words), 0),
  };
}

/**
 * A valid random plan of one to five steps: workers, subtasks and access lists are random.
 */
export function randomPlan(workerCount: number, random: KeyedRandom, words: Phrasebook = SUBTASKS): Plan {
  const steps = Array.from({ length: 1 + Math.floor(random.unit('steps') * MAX_STEPS) }, (_, index) => index);
  const accessOf = (index: number): Access => {
    const earlier = steps.slice(0, index);
    return random.pick(`access:${index}`, [[], 'all', earlier.filter((other) => random.chance(`read:${index}:${other}`,
      0.5))] as const);
  };
  return {
    modelIds: steps.map((index) => Math.floor(random.unit(`worker:${index}`) * workerCount)),
    subtasks: steps.map((index) => random.pick(`wording:${index}`, words[random.pick(`kind:${index}`, KINDS_OF_SUBTASK)])),
    accessList: steps.map(accessOf),
  };
}
