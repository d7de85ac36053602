import type { KeyedRandom } from '../common/keyed-random.ts';
import type { Role } from './roles.ts';

/** Words by which a description says what a worker is good at, whatever the question. */
const ROLE_WORDS: Readonly<Record<Role, RegExp>> = {
  plan: /\b(?:plan|diagnos|analy|reason|caus|think)\w*/i,
  write: /\b(?:writ|cod|implement)\w*/i,
  check: /\b(?:check|review|judg|verif|critic|careful)\w*/i,
};
const WEAKNESS = /\b(?:less|weak|poor|not|hasty)\b/i;

/** The workers on offer, as far as their descriptions tell. */
export class Team {
  readonly #workers: readonly string[];
  readonly #question: ReadonlySet<string>;
  readonly #random: KeyedRandom;

  constructor(workers: readonly string[], question: string, random: KeyedRandom) {
    this.#workers = workers;
    this.#question = stemsOf(question);
    this.#random = random;
  }

  /** The worker that its description makes likeliest, others than these where there are others. Equals are drawn by lot. */
  best(role: Role, others: readonly number[] = []): number {
    const ordinals = this.#workers.map((_, ordinal) => ordinal);
    const free = ordinals.filter((ordinal) => !others.includes(ordinal));
    const scored = (free.length > 0 ? free : ordinals).map((ordinal) => ({ ordinal, score: this.#score(ordinal, role) }));
    return scored.reduce((a, b) => (b.score > a.score ? b : a)).ordinal;
  }

  hasSpecialist(): boolean {
    return this.#workers.some((description) => this.#fit(description) > 0);
  }

  #score(ordinal: number, role: Role): number {
    const description = this.#workers[ordinal] ?? '';
    return this.#praise(description, role) + 0.9 * this.#fit(description) + 0.6 * this.#random.unit(`lot:${role}:${ordinal}`);
  }

  /** 1 where a clause of the description praises the role, -1 where one says that it is weak at it. */
  #praise(description: string, role: Role): number {
    const clauses = description.split(/[,.;]|\bbut\b/).filter((clause) => ROLE_WORDS[role].test(clause));
    return clauses.reduce((sum, clause) => sum + (WEAKNESS.test(clause) ? -1 : 1), 0);
  }

  /** 1 where the description and the question have a word in common, endings aside. */
  #fit(description: string): number {
    return [...stemsOf(description)].some((stem) => this.#question.has(stem)) ? 1 : 0;
  }
}

function stemOf(word: string): string {
  return word.replace(/s$/, '').slice(0, 5);
}

/** Beginnings of words that descriptions and questions share without being about the same thing. */
const GENERAL: ReadonlySet<string> = new Set(
  [
    'about also does each from have into just less like long makes more most much only other over some than that their them then there',
    'these they thing this those very what when where which while will with without your always never should could would',
    'code write plans finds causes checks good well quite works people functions reports fails wrong right change',
  ].flatMap((words) => words.split(' ').map(stemOf)),
);

/** The beginnings of a text's words, the parts of names such as mergeRanges among them. */
function stemsOf(text: string): Set<string> {
  const spaced = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  const stems = (spaced.match(/[a-z]{4,}/g) ?? []).map(stemOf);
  return new Set(stems.filter((stem) => stem.length >= 4 && !GENERAL.has(stem)));
}
