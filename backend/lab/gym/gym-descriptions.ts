import { KINDS, type Kind } from '../../simulator/families/family.ts';
import type { KeyedRandom } from '../../common/keyed-random.ts';
import { ROLES, type Role } from '../../simulator/roles.ts';
import type { Skills } from '../../simulator/skills.ts';
import type { Split } from './generators/generator.ts';

/** Descriptions of each kind in words of its questions, without the name of the kind. */
const TOPICS: Readonly<Record<Kind, string>> = {
  strings: 'text and letters',
  numbers: 'integers and divisors',
  parsing: 'expressions and tokens',
  intervals: 'ranges and spans',
  data: 'records and rows',
  machines: 'instructions and devices',
};

type Wording = Readonly<Record<Role, (topics: string) => string>>;

/** Descriptions of unseen workers, in words that training does not use. */
const WORDINGS: Readonly<Record<Split, readonly [Wording, Wording]>> = {
  train: [
    { plan: (topics) => `Plans well for ${topics}.`, write: (topics) => `Writes good code for ${topics}.`,
      check: (topics) => `Checks ${topics} closely.` },
    { plan: (topics) => `Good plans: ${topics}.`, write: (topics) => `Good at writing ${topics}.`,
      check: (topics) => `Good reviews: ${topics}.` },
  ],
  'held-out': [
    { plan: (topics) => `Makes good plans where ${topics} are asked for.`, write: (topics) => `Known to write ${topics} well.`,
      check: (topics) => `Reviews and checks ${topics} with care.` },
    { plan: (topics) => `Often asked to plan ${topics}.`, write: (topics) => `Its code for ${topics} is good.`,
      check: (topics) => `Finds faults in code for ${topics}.` },
  ],
};

/** The probability that a strength is omitted: descriptions are true but incomplete. */
const LEFT_OUT = 0.15;

/** The minimum skill that counts as a strength. */
const STRONG: Readonly<Record<Role, number>> = { plan: 0.85, write: 0.78, check: 0.85 };

/** Describes a worker's strengths. */
export function describe(skills: Skills, split: Split, random: KeyedRandom): string {
  const wording = random.pick('wording', WORDINGS[split]);
  const sentences = ROLES.flatMap((role) => {
    const strong = KINDS.filter((kind) => skills[kind][role] >= STRONG[role] && !random.chance(`left out:${role}:${kind}`,
      LEFT_OUT));
    return strong.length > 0 ? [wording[role](listOf(strong.map((kind) => TOPICS[kind])))] : [];
  });
  return sentences.length > 0 ? sentences.join(' ') : 'Does a bit of everything.';
}

function listOf(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')}, ${items.at(-1)}`;
}
