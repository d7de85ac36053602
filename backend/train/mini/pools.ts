import type { Dice } from './dice.ts';
import { LANGUAGES, type Topic, TOPICS } from './topics.ts';

/** What a step is for. */
export type Role = 'plan' | 'write' | 'check';

export interface MadeWorker {
  readonly description?: string;
  /** What the description praises. */
  readonly topics: readonly Topic[];
  readonly roles: readonly Role[];
}

const LARGEST_POOL = 8;

const ROLE_PRAISE: Readonly<Record<Role, readonly string[]>> = {
  plan: ['Finds causes and makes good plans', 'Thinks things through', 'Strong at analysis', 'Reasons step by step', 'Good at planning and diagnosis', 'A careful architect'],
  write: ['Writes precise code', 'Writes tidy code', 'A strong coder', 'Implements changes cleanly', 'Good at writing code', 'Codes quickly and well'],
  check: ['A strong reviewer of code', 'Checks carefully', 'Finds faults in what others wrote', 'Good at verifying and judging', 'A critical tester', 'Reviews edge cases well'],
};
const TOPIC_PRAISE = ['Good with {about}', 'Knows {about}', 'Expert in {about}', 'At home in {about}', 'Best at {about}', 'Writes code for {about}', 'Specialist for {about}'];
const TRAITS = ['Slow and expensive', 'Small, fast and cheap', 'Cheap', 'Expensive but thorough', 'Fast', 'Average at everything', 'A generalist', 'Runs locally and costs nothing', 'A large reasoning model', 'Has a short memory'];
const WEAKNESSES = ['Hasty when it checks', 'Less sure with {about}', 'Plans are less its thing', 'Weak at {about}', 'Poor at long code', 'Not a good reviewer', 'Sometimes wrong'];

/**
 * One to eight workers. Many pools have no descriptions, since the form of a plan is learned from short prompts at less cost. `near`: what
 * somebody is rather likely to be good at.
 */
export function makePool(dice: Dice, near: Topic | undefined): MadeWorker[] {
  const size = 1 + dice.weighted([1, 2, 3, 4, 4, 3, 2, 2].slice(0, LARGEST_POOL));
  const described = [1, 0.5, 0][dice.weighted([0.38, 0.1, 0.52])] as number;
  return Array.from({ length: size }, () => (dice.chance(described) ? describedWorker(dice, near) : { topics: [], roles: [] }));
}

function describedWorker(dice: Dice, near: Topic | undefined): MadeWorker {
  const roles = dice.some<Role>(['plan', 'write', 'check'], dice.weighted([0.4, 0.45, 0.15]));
  const topics = Array.from({ length: dice.weighted([0.35, 0.5, 0.15]) }, () => (near && dice.chance(0.3) ? near : dice.pick(TOPICS)));
  const about = (topic: Topic): string => (dice.chance(0.5) ? topic.about : dice.some(topic.things, 3).map((thing) => `${thing}s`).join(', '));
  const sentences = [
    ...roles.map((role) => dice.pick(ROLE_PRAISE[role])),
    ...topics.map((topic) => dice.fill(dice.pick(TOPIC_PRAISE), { about: [about(topic)] })),
    ...(dice.chance(0.1) ? [`Good at ${dice.pick(LANGUAGES)}`] : []),
  ];
  const ordered = dice.some(sentences, sentences.length);
  if (dice.chance(0.45) || ordered.length === 0) ordered.push(dice.pick(TRAITS));
  if (dice.chance(0.25)) ordered.push(dice.fill(dice.pick(WEAKNESSES), { about: [dice.pick(TOPICS).about] }));
  const joined = ordered.join(dice.pick(['. ', '. ', '; ']));
  return { description: dice.chance(0.85) ? `${joined}.` : joined, topics, roles };
}
