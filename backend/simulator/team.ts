import type { KeyedRandom } from '../common/keyed-random.ts';
import type { Role } from './roles.ts';

/** Words in descriptions that indicate a worker's strengths, for any question. */
const ROLE_WORDS: Readonly<Record<Role, RegExp>> = {
  plan: /\b(?:plan|diagnos|analy|reason|caus|think)\w*/i,
  write: /\b(?:writ|cod|implement)\w*/i,
  check: /\b(?:check|review|judg|verif|critic|careful)\w*/i,
};
const WEAKNESS = /\b(?:less|weak|poor|not|hasty)\b/i;

/** The available workers, judged by their descriptions. */
export class Team {
  readonly #workers: readonly string[];
  readonly #question: ReadonlySet<string>;
  readonly #random: KeyedRandom;

  constructor(workers: readonly string[], question: string, random: KeyedRandom) {
    this.#workers = workers;
    this.#question = stemsOf(question);
    this.#random = random;
  }

  /** The worker whose description fits best, preferring workers not in the list. Ties are drawn at random. */
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

  /** 1 if a clause of the description praises the role, -1 if one names it as a weakness. */
  #praise(description: string, role: Role): number {
    const clauses = description.split(/[,.;]|\bbut\b/).filter((clause) => ROLE_WORDS[role].test(clause));
    return clauses.reduce((sum, clause) => sum + (WEAKNESS.test(clause) ? -1 : 1), 0);
  }

  /** 1 if the description and the question share a word, ignoring endings. */
  #fit(description: string): number {
    return [...stemsOf(description)].some((stem) => this.#question.has(stem)) ? 1 : 0;
  }
}

function stemOf(word: string): string {
  return word.replace(/s$/, '').slice(0, 5);
}

/** Word stems that descriptions and questions share by coincidence. */
const GENERAL: ReadonlySet<string> = new Set(
  [
    'about also does each from have into just less like long makes more most much only other over some than that their them then there',
    'these they thing this those very what when where which while will with without your always never should could would',
    'code write plans finds causes checks good well quite works people functions reports fails wrong right change',
  ].flatMap((words) => words.split(' ').map(stemOf)),
);

/** The word stems of a text, including parts of names such as mergeRanges. */
function stemsOf(text: string): Set<string> {
  const spaced = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  const stems = (spaced.match(/[a-z]{4,}/g) ?? []).map(stemOf);
  return new Set(stems.filter((stem) => stem.length >= 4 && !GENERAL.has(stem)));
}
