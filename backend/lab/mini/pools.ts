import type { DigestRole as Role } from '../../conductor/worker-digest.ts';
import type { Dice } from './dice.ts';
import { LANGUAGES, type Topic, TOPICS } from './topics.ts';

/** What a description praises: a role, a topic, or a role for a topic. */
type Strength = { readonly role: Role; readonly topic?: Topic } | { readonly role?: Role; readonly topic: Topic };

export interface MadeWorker {
  readonly description?: string;
  readonly hasHands?: boolean;
}

const LARGEST_POOL = 8;

const ROLE_PRAISE: Readonly<Record<Role, readonly string[]>> = {
  plan: ['Finds causes and makes good plans', 'Thinks things through', 'Strong at analysis', 'Reasons step by step', 'Good at planning and diagnosis', 'A careful architect'],
  write: ['Writes precise code', 'Writes tidy code', 'A strong coder', 'Implements changes cleanly', 'Good at writing code', 'Codes quickly and well'],
  check: ['A strong reviewer of code', 'Checks carefully', 'Finds faults in what others wrote', 'Good at verifying and judging', 'A critical tester', 'Reviews edge cases well'],
};
const ROLE_AND_TOPIC_PRAISE: Readonly<Record<Role, readonly string[]>> = {
  plan: ['Plans {about} well', 'Good plans for {about}', 'Thinks {about} through', 'Strong analysis of {about}'],
  write: ['Writes good code for {about}', 'Codes {about} well', 'Implements {about} cleanly', 'Good at writing {about}'],
  check: ['Checks {about} closely', 'Good reviews of {about}', 'Spots mistakes in {about}', 'Tests {about} carefully'],
};
const TOPIC_PRAISE = ['Good with {about}', 'Knows {about}', 'Expert in {about}', 'At home in {about}', 'Best at {about}', 'Writes code for {about}', 'Specialist for {about}'];
const TRAITS = ['Slow and expensive', 'Small, fast and cheap', 'Cheap', 'Expensive but thorough', 'Fast', 'Average at everything', 'A generalist', 'Runs locally and costs nothing', 'A large reasoning model', 'Has a short memory'];
const WEAKNESSES = ['Hasty when it checks', 'Less sure with {about}', 'Plans are less its thing', 'Weak at {about}', 'Poor at long code', 'Not a good reviewer', 'Sometimes wrong'];

/** One to eight workers, some without a description. `near`: a topic that is more likely to be a strength; `hands`: draws who has hands. */
export function makePool(dice: Dice, near: Topic | undefined, hands?: Dice): MadeWorker[] {
  const size = 1 + dice.weighted([1, 2, 3, 4, 4, 3, 2, 2].slice(0, LARGEST_POOL));
  const described = [1, 0.5, 0][dice.weighted([0.75, 0.1, 0.15])] as number;
  const pool = Array.from({ length: size }, () => (dice.chance(described) ? describedWorker(dice, near) : {}));
  return hands ? handed(pool, hands) : pool;
}

/** Half of the pools have workers with hands; hands say nothing of what else a worker is good at. */
function handed(pool: readonly MadeWorker[], dice: Dice): MadeWorker[] {
  if (dice.chance(0.5)) return [...pool];
  return pool.map((worker) => (dice.chance(0.4) ? { ...worker, hasHands: true } : worker));
}

function describedWorker(dice: Dice, near: Topic | undefined): MadeWorker {
  const strengths = Array.from({ length: dice.weighted([0.15, 0.45, 0.3, 0.1]) }, () => madeStrength(dice, near));
  const about = (topic: Topic): string => (dice.chance(0.5) ? topic.about : dice.some(topic.things, 3).map((thing) => `${thing}s`).join(', '));
  const sentences = [
    ...strengths.map(({ role, topic }) => dice.fill(
      dice.pick(role && topic ? ROLE_AND_TOPIC_PRAISE[role] : role ? ROLE_PRAISE[role] : TOPIC_PRAISE), { about: topic ? [about(topic)] : [] },
    )),
    ...(dice.chance(0.1) ? [`Good at ${dice.pick(LANGUAGES)}`] : []),
  ];
  const ordered = dice.some(sentences, sentences.length);
  if (dice.chance(0.35) || ordered.length === 0) ordered.push(dice.pick(TRAITS));
  if (dice.chance(0.2)) ordered.push(dice.fill(dice.pick(WEAKNESSES), { about: [dice.pick(TOPICS).about] }));
  const joined = ordered.join(dice.pick(['. ', '. ', '; ']));
  return { description: dice.chance(0.85) ? `${joined}.` : joined };
}

function madeStrength(dice: Dice, near: Topic | undefined): Strength {
  const role = dice.pick<Role>(['plan', 'write', 'check']);
  const topic = near && dice.chance(0.35) ? near : dice.pick(TOPICS);
  return [{ role }, { topic }, { role, topic }][dice.weighted([0.25, 0.25, 0.5])] as Strength;
}
