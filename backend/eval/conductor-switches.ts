import { ABLATIONS, type AblationName } from '../protocol/ablations.ts';
import { EvaluationRequestError } from './evaluation/request-error.ts';

/*
 * How a Conductor of an evaluation differs from one as it is: `conductor:ID+rounds=3+vague`. With `/base` after the id, a model of this machine
 * plans without its adapter.
 */

/** Which examples its prompt has: none, of other domains than the data sets', of theirs, or a person's own. */
export const EXAMPLE_SETS = ['none', 'out', 'in', 'own'] as const;
export type ExampleSet = (typeof EXAMPLE_SETS)[number];

export interface ConductorSwitches {
  /** Plans in turn, each of which sees the answer of the one before. */
  readonly rounds: number;
  /** Independent plans; the first whose answer the tests verify ends it. */
  readonly attempts: number;
  /** Changes of each plan before it is carried out. */
  readonly ablations: readonly AblationName[];
  readonly examples?: ExampleSet | undefined;
  /** The paper's own form of the prompt. */
  readonly paperPrompt: boolean;
  /** A model of this machine writes any text, not valid plans only. */
  readonly free: boolean;
  /** So many workers, drawn for each task, are in the pool. */
  readonly pool?: number | undefined;
  /** So many times, one within the other, a plan may have a step that is a plan of its own. */
  readonly self: number;
}

export interface ChosenConductor {
  readonly id: string;
  readonly isBase: boolean;
  readonly switches: ConductorSwitches;
}

const MOST = { rounds: 6, attempts: 5, pool: 32, self: 5 } as const;
const FLAGS = { 'prompt=paper': { paperPrompt: true }, 'free': { free: true } } as const satisfies Record<string, Partial<ConductorSwitches>>;

/** For messages and help. */
export const SWITCH_NAMES = [
  'rounds=N', 'attempts=N', 'one-worker', 'vague', 'access=all', 'access=nothing', 'access=all-or-nothing', 'examples=none', 'examples=out',
  'examples=in', 'examples=own', 'prompt=paper', 'free', 'pool=N', 'self=N',
] as const;

/** @param byDefault for what the text leaves open. @throws EvaluationRequestError */
export function readConductor(text: string, byDefault: Pick<ConductorSwitches, 'rounds' | 'attempts'>): ChosenConductor {
  const [who = '', ...given] = text.split('+');
  const [id = '', part] = who.split('/');
  if (id === '' || (part !== undefined && part !== 'base')) {
    throw new EvaluationRequestError(`"${text}" is not known: write conductor:WORKER, or conductor:WORKER/base for a model of this machine without its adapter.`);
  }
  let switches: ConductorSwitches = { ...byDefault, ablations: [], paperPrompt: false, free: false, self: 0 };
  for (const one of given) switches = { ...switches, ...changeBy(one, switches) };
  if (switches.rounds > 1 && switches.attempts > 1) {
    throw new EvaluationRequestError(`"${text}" has rounds and attempts: attempts are independent plans, and none of them revises another. Choose one.`);
  }
  return { id, isBase: part === 'base', switches };
}

function changeBy(one: string, { ablations }: ConductorSwitches): Partial<ConductorSwitches> {
  const found = ABLATIONS.find((name) => name === one);
  if (found) return { ablations: [...ablations, found] };
  if (Object.hasOwn(FLAGS, one)) return FLAGS[one as keyof typeof FLAGS];
  const [name = '', value = ''] = one.split('=');
  const examples = EXAMPLE_SETS.find((set) => set === value);
  if (name === 'examples' && examples) return { examples };
  if (Object.hasOwn(MOST, name)) {
    const most = MOST[name as keyof typeof MOST];
    const number = Number(value);
    if (!Number.isInteger(number) || number < 1 || number > most) throw new EvaluationRequestError(`+${name} takes a whole number from 1 to ${most}, as in +${name}=2.`);
    return { [name]: number };
  }
  throw new EvaluationRequestError(`There is no switch "+${one}" of a Conductor; there are ${SWITCH_NAMES.map((switchName) => `+${switchName}`).join(', ')}.`);
}

/** In tables, after the Conductor's name: what differs from one as it is. */
export function switchWords({ rounds, attempts, ablations, examples, paperPrompt, free, pool, self }: ConductorSwitches): string {
  const words = [
    ...(rounds > 1 ? [`${rounds} rounds`] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...ablations.map((name) => ABLATION_WORDS[name]),
    ...(examples ? [EXAMPLE_WORDS[examples]] : []),
    ...(paperPrompt ? ['the paper\'s prompt'] : []),
    ...(free ? ['not constrained'] : []),
    ...(pool === undefined ? [] : [`${pool} drawn workers`]),
    ...(self > 0 ? [`itself as a worker, ${self} deep`] : []),
  ];
  return words.map((word) => `, ${word}`).join('');
}

const ABLATION_WORDS = {
  'access=all': 'every step reads all', 'access=nothing': 'no step reads any', 'access=all-or-nothing': 'steps read all or nothing',
  'vague': 'vague subtasks', 'one-worker': 'best worker only',
} as const satisfies Record<AblationName, string>;

const EXAMPLE_WORDS = {
  none: 'no examples', out: 'examples of other domains', in: 'examples of the same domains', own: 'own examples',
} as const satisfies Record<ExampleSet, string>;
