import type { PoolEntry } from '../../conductor/prompt-input.ts';
import { workerConfigSchema, type WorkerConfig } from '../../protocol/worker-config.ts';
import { KINDS, type Kind } from '../../simulator/families/family.ts';
import type { SimulatedWorker, Wire } from '../../simulator/pool.ts';
import { KeyedRandom } from '../../common/keyed-random.ts';
import { skillsOf, type SkillRow } from '../../simulator/skills.ts';
import { describe } from './gym-descriptions.ts';
import { TRAINING_POOL_NUMBERS, type WorkerNumbers } from './gym-parameters.ts';
import type { Split } from './generators/generator.ts';

/** The fixed training pool. Workers' strengths can be learned by ordinal or read from descriptions. */
export const TRAINING_POOL: readonly SimulatedWorker[] = TRAINING_POOL_NUMBERS.map((numbers, index) =>
  workerOf(numbers, 'train', new KeyedRandom('training pool', numbers.name), index === 3 ? 'anthropic' : 'openai-chat'),
);

type Character = 'generalist' | 'planner' | 'reviewer' | 'specialist';

/** The characters of five workers that are drawn together. */
const CHARACTERS = ['generalist', 'planner', 'reviewer', 'specialist', 'specialist'] as const satisfies readonly Character[];

/** The roster for random training pools. */
export const TRAINING_ROSTER: readonly SimulatedWorker[] = Array.from({ length: 15 }, (_, index) =>
  drawnWorker(`sim-r${index + 1}`, CHARACTERS[index % 5] ?? 'generalist', 'train', new KeyedRandom('roster', index)),
);

/** A random pool of this size from the roster, in random order. The same seed gives the same pool. */
export function randomPool(seed: number, size = 5, roster: readonly SimulatedWorker[] = TRAINING_ROSTER): SimulatedWorker[] {
  return new KeyedRandom('random pool', seed).shuffled('workers', roster).slice(0, size);
}

/**
 * A pool of five unseen workers with descriptions in other words. A planner has to read the descriptions.
 */
export function unseenPool(seed: number): SimulatedWorker[] {
  const random = new KeyedRandom('unseen pool', seed);
  return random.shuffled('places', CHARACTERS).map((character, index) =>
    drawnWorker(`sim-u${seed}-${index + 1}`, character, 'held-out', new KeyedRandom('unseen pool', seed, index)));
}

/** The roster for random pools in which some workers have hands. Whether a worker has them says nothing of its skill. */
export const TRAINING_ROSTER_WITH_HANDS: readonly SimulatedWorker[] = Array.from({ length: 15 }, (_, index) => ({
  ...drawnWorker(`sim-h${index + 1}`, CHARACTERS[index % 5] ?? 'generalist', 'train', new KeyedRandom('roster with hands', index)),
  // Two of each five, another pair of characters in each five.
  hasHands: [0, 2].includes((index + 2 * Math.floor(index / 5)) % 5),
}));

/** A pool of five unseen workers of which two, drawn at random, have hands. */
export function unseenPoolWithHands(seed: number): SimulatedWorker[] {
  return twoWithHands(unseenPool(seed), seed).map((worker) => ({ ...worker, name: worker.name.replace('sim-u', 'sim-v') }));
}

/** The same workers; two of the first five, drawn at random, have hands. */
export function twoWithHands(workers: readonly SimulatedWorker[], seed: number): SimulatedWorker[] {
  const handed = new KeyedRandom('unseen pool with hands', seed).shuffled('hands', CHARACTERS.map((_, index) => index)).slice(0, 2);
  return workers.map((worker, index) => ({ ...worker, hasHands: handed.includes(index) }));
}

/** As workers in `workers.json`, where nobody calls them over the wire. */
export function unservedPool(workers: readonly SimulatedWorker[]): WorkerConfig[] {
  return workers.map(({ name, description, price, hasHands }) => workerConfigSchema.parse({
    id: name, provider: 'openai-compatible', model: name, baseUrl: 'http://127.0.0.1:1/v1', price, description, simulated: true, ...(hasHands && { hands: 'tools' }),
  }));
}

/** What a Conductor is told of workers. */
export function toldOf(pool: readonly Pick<WorkerConfig, 'description' | 'hands'>[]): PoolEntry[] {
  return pool.map(({ description, hands }) => ({ description, ...(hands && { hasHands: true }) }));
}

function drawnWorker(name: string, character: Character, split: Split, random: KeyedRandom): SimulatedWorker {
  const near = (draw: string, skill: number): number => Math.round((skill + 0.08 * (random.unit(draw) - 0.5)) * 100) / 100;
  const row = (draw: string, [plan, write, check]: SkillRow): SkillRow =>
    [near(`${draw}:plan`, plan), near(`${draw}:write`, write), near(`${draw}:check`, check)];
  const kinds = random.shuffled('kinds', KINDS);
  const rowsFor = (count: number, skills: SkillRow): Partial<Record<Kind, SkillRow>> =>
    Object.fromEntries(kinds.slice(0, count).map((kind) => [kind, row(kind, skills)]));
  const drawn: Readonly<Record<Character, Pick<WorkerNumbers, 'usual' | 'special' | 'price'>>> = {
    generalist: { usual: row('usual', [0.5, 0.66, 0.5]), special: rowsFor(2, [0.5, 0.8, 0.55]),
      price: { inputPerMillion: 3, outputPerMillion: 12 } },
    planner: { usual: row('usual', [0.75, 0.55, 0.55]), special: rowsFor(3, [0.97, 0.6, 0.6]),
      price: { inputPerMillion: 4, outputPerMillion: 16 } },
    reviewer: { usual: row('usual', [0.45, 0.6, 0.75]), special: rowsFor(4, [0.5, 0.65, 0.95]),
      price: { inputPerMillion: 2, outputPerMillion: 8 } },
    specialist: { usual: row('usual', [0.4, 0.53, 0.45]), special: rowsFor(2, [0.6, 0.93, 0.6]),
      price: { inputPerMillion: 0.5, outputPerMillion: 2 } },
  };
  return workerOf({ name, ...drawn[character] }, split, random, 'openai-chat');
}

function workerOf({ name, usual, special, price }: WorkerNumbers, split: Split, random: KeyedRandom,
  wire: Wire): SimulatedWorker {
  const skills = skillsOf(usual, special);
  return { name, wire, skills, price, latency: { firstTokenMs: 0, tokensPerSecond: 1e9 },
    description: describe(skills, split, random) };
}
