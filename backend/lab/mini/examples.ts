import { conductorPrompt } from '../../conductor/conductor-prompt.ts';
import { PROMPT_PROFILES } from '../../conductor/prompt-profile.ts';
import { Dice } from './dice.ts';
import { keepText, makePlan, openingOf } from './plans.ts';
import { makePool } from './pools.ts';
import { makeQuestion } from './questions.ts';
import { EXTENSIONS, FILES, NAME_NOUNS, TOPICS } from './topics.ts';

type PromptInput = Parameters<typeof conductorPrompt>[0];
type PastRound = PromptInput['rounds'][number];

/** A conversation and a possible answer of the Conductor. */
export interface PlanExample {
  readonly input: PromptInput;
  readonly messages: ReturnType<typeof conductorPrompt>['messages'];
  readonly text: string;
}

/** A conversation and possible beginnings of answers. */
export interface OpeningsExample extends Pick<PlanExample, 'messages'> {
  readonly openings: readonly string[];
}

const OPENINGS = 4;

/** Where no worker has hands, its prompts are those of the profile `mini`. */
const PROFILE = PROMPT_PROFILES['mini-hands'];

/** First plans, later rounds, and corrections of invalid plans, with their probabilities. */
const FORMS = { first: 0.84, later: 0.13, rejected: 0.03 } as const;
type Form = keyof typeof FORMS;

export interface ExampleOptions {
  /** Restricts the form. */
  readonly only?: Form | undefined;
  /** Some workers of some pools have hands. All else is the same as without. */
  readonly withHands?: boolean | undefined;
}

/** The example with this number, determined by the seed and the number. */
export function exampleAt(seed: number, index: number, { only, withHands = false }: ExampleOptions = {}): PlanExample {
  const dice = new Dice(seed, 'example', index);
  const question = makeQuestion(dice);
  const pool = makePool(dice, question.topic, withHands ? new Dice(seed, 'example hands', index) : undefined);
  const drawn = (Object.keys(FORMS) as Form[])[dice.weighted(Object.values(FORMS))];
  const form = only ?? drawn;
  const first = { question: question.text, context: dice.chance(0.12) ? madeContext(dice) : '', pool, rounds: [] };
  const plan = (round: number): string => makePlan(dice, question, pool, round);
  if (form === 'later') {
    const { passes, ...past } = madeRound(dice, dice.chance(0.9) ? plan(0) : 'The plan.');
    const text = dice.chance(passes ? 0.8 : 0.12) ? keepText(dice) : plan(1);
    return exampleOf({ ...first, rounds: [past] }, text);
  }
  if (form === 'rejected') return exampleOf({ ...first, rejection: madeRejection(dice, plan(0), pool.length) }, plan(0));
  return exampleOf(first, plan(0));
}

/**
 * The choice of workers is the hardest to learn, and little of a text is about it. So these examples are only the beginnings of plans, up to the
 * choice of workers, several for each question. Determined by the seed and the number.
 */
export function openingsAt(seed: number, index: number, { withHands = false }: Pick<ExampleOptions, 'withHands'> = {}): OpeningsExample {
  const dice = new Dice(seed, 'openings', index);
  const question = makeQuestion(dice);
  const pool = makePool(dice, question.topic, withHands ? new Dice(seed, 'openings hands', index) : undefined);
  const { messages } = conductorPrompt({ question: question.text, context: '', pool, rounds: [] }, PROFILE);
  return { messages, openings: Array.from({ length: OPENINGS }, () => openingOf(makePlan(dice, question, pool, 0))) };
}

const exampleOf = (input: PromptInput, text: string): PlanExample =>
  ({ input, messages: conductorPrompt(input, PROFILE).messages, text });

function madeContext(dice: Dice): string {
  const { functions, things } = dice.pick(TOPICS);
  const file = `${dice.pick(FILES)}/${dice.pick(things).replaceAll(' ', '-')}.${dice.pick(EXTENSIONS)}`;
  return `${file}\nexport function ${dice.pick(functions)}(${dice.pick(NAME_NOUNS).toLowerCase()}) {\n  return ${dice.pick(NAME_NOUNS).toLowerCase()}.length;\n}`;
}

/** A round in Solve's format (backend/solve/round.ts). */
function madeRound(dice: Dice, planText: string): PastRound & { readonly passes: boolean } {
  const verdict = dice.weighted([0.25, 0.45, 0.2, 0.1]);
  const name = dice.pick(dice.pick(TOPICS).functions);
  const feedback = [
    'The project\'s tests pass. All tests that failed before pass now.',
    `The project's tests do not pass with this answer. ${1 + dice.below(5)} tests fail.\n- ${name}.test > ${dice.pick(dice.pick(TOPICS).cases)}: failed before, failed after`,
    'The answer was not tested: it changes no file that tests could judge.',
    'The tests could not be run. No test command was found.',
  ][verdict] as string;
  return { planText, answer: `${madeContext(dice)}`, feedback, passes: verdict !== 1 };
}

function madeRejection(dice: Dice, text: string, workers: number): PromptInput['rejection'] {
  switch (dice.below(3)) {
    case 0: return { text: text.replace(/\naccess_list[^]*/, ''), message: 'The list access_list is missing.' };
    case 1: return { text: text.replace(/model_id = \[\d/, `model_id = [${workers + 2}`), message: `model_id names worker ${workers + 2}; the workers are 0 to ${workers - 1}.` };
    default: return { text: '', message: 'The lists model_id, subtasks and access_list are missing.' };
  }
}
