import type { SkillRow } from '../../../backend/simulator/skills.ts';
import type { LearnTask } from './learn-tasks.ts';

/*
 * Pools of simulated workers. What they are good at is hidden: nothing is told of any of them, so that only outcomes can tell. A skill is in the unit
 * of the gym: a worker whose skill is a task's difficulty (0.35 to 0.65) is right about half the time; 0.3 more is nine times of ten.
 */

export interface HiddenWorker {
  readonly name: string;
  /** Dollars for a million tokens. */
  readonly price: { readonly inputPerMillion: number; readonly outputPerMillion: number };
  /** In planning, writing and checking, after so many plans were paid for. */
  readonly skill: (task: Pick<LearnTask, 'language' | 'kind'>, paid: number) => SkillRow;
}

export interface HiddenPool {
  readonly name: string;
  /** One sentence for the report. */
  readonly about: string;
  readonly workers: readonly HiddenWorker[];
}

const CHEAP = { inputPerMillion: 0.3, outputPerMillion: 1.2 };
const USUAL = { inputPerMillion: 1, outputPerMillion: 4 };
const DEAR = { inputPerMillion: 3, outputPerMillion: 15 };

const all = (skill: number): SkillRow => [skill, skill, skill];
const always = (row: SkillRow) => (): SkillRow => row;

/** As often right as never: the setting in which trying each worker five times tells who is good. */
const oneOfFour: HiddenPool = {
  name: 'one of four',
  about: 'Four workers at one price; one is right nearly always, three nearly never.',
  workers: ['north', 'east', 'south', 'west'].map((name) => ({ name: `sim-${name}`, price: USUAL, skill: always(all(name === 'south' ? 1.3 : -0.3)) })),
};

const speaks = (languages: readonly string[], kinds: readonly string[]): HiddenWorker['skill'] => ({ language, kind }) =>
  all(languages.includes(language) ? (kinds.includes(kind) ? 0.85 : 0.5) : 0.25);

const byLanguage: HiddenPool = {
  name: 'languages and kinds',
  about: 'Eight workers, each good at one language or two and there at writing or at repairing; two are cheap, two are dear, and one dear worker is fair at everything.',
  workers: [
    { name: 'sim-adder', price: USUAL, skill: speaks(['Python'], ['write']) },
    { name: 'sim-bison', price: USUAL, skill: speaks(['Python'], ['repair']) },
    { name: 'sim-crane', price: CHEAP, skill: speaks(['JavaScript'], ['write', 'repair']) },
    { name: 'sim-dingo', price: USUAL, skill: speaks(['Go'], ['write']) },
    { name: 'sim-egret', price: DEAR, skill: speaks(['Go', 'Python'], ['repair']) },
    { name: 'sim-finch', price: CHEAP, skill: always(all(0.2)) },
    { name: 'sim-gecko', price: DEAR, skill: always(all(0.55)) },
    { name: 'sim-heron', price: USUAL, skill: always(all(0.3)) },
  ],
};

const byRole: HiddenPool = {
  name: 'roles',
  about: 'Five workers: one plans well, one checks well, one writes fairly, two are fair at nothing. A plan of several can beat any one.',
  workers: [
    { name: 'sim-ochre', price: USUAL, skill: always([0.3, 0.25, 0.3]) },
    { name: 'sim-umber', price: USUAL, skill: always([0.95, 0.3, 0.35]) },
    { name: 'sim-sepia', price: USUAL, skill: always([0.3, 0.5, 0.3]) },
    { name: 'sim-coral', price: USUAL, skill: always([0.3, 0.3, 0.95]) },
    { name: 'sim-amber', price: CHEAP, skill: always([0.25, 0.35, 0.25]) },
  ],
};

/** Of the pool in which a worker changes. */
export const CHANGES_AFTER = 100;

const changing: HiddenPool = {
  name: 'one that changes',
  about: `Three workers: a dear good one, a cheap good one that is bad after ${CHANGES_AFTER} plans, and a cheap one that is never good.`,
  workers: [
    { name: 'sim-poppy', price: CHEAP, skill: always(all(0.2)) },
    { name: 'sim-tulip', price: DEAR, skill: always(all(0.8)) },
    { name: 'sim-daisy', price: CHEAP, skill: (_, paid) => all(paid <= CHANGES_AFTER ? 0.9 : 0.1) },
  ],
};

export const POOLS: readonly HiddenPool[] = [oneOfFour, byLanguage, byRole, changing];
