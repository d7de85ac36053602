import type { QuestionKind, ReadQuestion } from '../question/read-question.ts';
import type { StepRole } from '../../protocol/step-role.ts';

/*
 * The words of conductor-mini's steps. Two million weights can learn who should do what, and cannot write an instruction for a question: so
 * the instruction is a form for the step's role, the kind of question and what the step is shown, and carries the question's own words.
 * Each begins with the verb of its role, says what to look at, and says what to hand on.
 */

/** What decides a step's words. */
export interface FormStep {
  readonly role: StepRole;
  /** The first step carries the question's words, the others its names. */
  readonly isFirst: boolean;
  /** How many notes (outputs of planning steps) and how many drafts (of the others) it is shown. */
  readonly notes: number;
  readonly drafts: number;
  /** Its place among the steps of the same role, from 0: independent attempts are told to differ. */
  readonly attempt: number;
  /** It is shown the round before. */
  readonly seesRound: boolean;
}

export type FormQuestion = Pick<ReadQuestion, 'kind' | 'wants' | 'names' | 'gist' | 'reportsFault'>;

/** The parts of a kind's instructions. `what` is the question in short or what it is about, and `of` its names. */
interface KindForms {
  /** For whoever only looks: how to look, and what to hand on. */
  readonly look: (what: string, of: string) => string;
  /** What is written, before the question's gist: the thing itself. */
  readonly thing: string;
  readonly how: string;
  /** With notes in view, in place of the beginning of `how`. */
  readonly fromNotes: string;
  readonly check: string;
  readonly hand: string;
}

const IN_WORDS = 'Answer in words and change no file.';
const WHOLE_FILES = 'Return every changed file whole, with its path.';

const WORDS = {
  fromNotes: 'Take the notes you are shown as material; the code has the last word.',
  hand: IN_WORDS,
} as const;

const CHANGE = {
  fromNotes: 'Follow the plan you are shown; where the code contradicts it, the code has the last word, and you say so in a sentence.',
  hand: WHOLE_FILES,
} as const;

const KINDS: Readonly<Record<Exclude<QuestionKind, 'small-talk'>, KindForms>> = {
  'explain': {
    ...WORDS,
    look: (what, of) => `Study what answers this: ${what}. Follow ${of} through the code you are shown: what comes in, what happens in which order, what comes out. Hand on notes, each with its place; leave the answer to others.`,
    thing: 'the explanation',
    how: 'Begin with the answer in one sentence. Then go through what matters in order, with the names and values that show it, and name the case that surprises. Say what the code you are shown does not tell.',
    check: 'Hold each sentence against the code you are shown; look for what is claimed without ground, left out, or unclear to somebody who asks this.',
  },
  'why': {
    ...WORDS,
    look: (what, of) => `Work out what answers this: ${what}. Collect the reasons that are possible for ${of}; for each, what in the code you are shown speaks for it and what against it. Hand on the list, likeliest first; leave the answer to others.`,
    thing: 'the answer',
    how: 'Give the reason first, then the lines or facts that show it. If several are possible, order them by likelihood and say what would tell them apart. Say what would follow if it were done otherwise.',
    check: 'Ask of each reason whether the code you are shown bears it out and whether another one explains the same; look for what is claimed without ground.',
  },
  'how-to': {
    ...WORDS,
    look: (what) => `Work out which ways there are to do this: ${what}. For each: what it takes, which tools and versions of the project it fits, and its drawback. Hand on the list; leave the answer to others.`,
    thing: 'the answer',
    how: 'Name the one way you would take and why, then its steps in order, each with the exact call or command. End with how to see that it worked and what commonly gets in the way.',
    check: 'Go through the steps as somebody who follows them to the letter: look for a step that is missing, a name or option that does not exist, and a version that does not fit.',
    hand: 'Answer in words, with the calls or commands where they are needed; change no file.',
  },
  'feature': {
    ...CHANGE,
    look: (what, of) => `Work out what it takes: ${what}. Name the files and functions around ${of} that change, the cases that have to hold (empty, largest, repeated, existing callers) and what stays as it is. Hand on a short plan without code.`,
    thing: 'the change',
    how: 'Fit it into the code you are shown, in its style; handle empty and extreme input; keep existing behaviour and public names.',
    check: 'Go through it case by case: what was asked for, empty and extreme input, existing callers. Put right what does not hold.',
  },
  'write': {
    fromNotes: 'Follow the rules you are shown, and keep to what was asked where they differ.',
    look: (what, of) => `Work out the rules and the cases for this: ${what}. List what has to hold for ${of}, with small examples of input and expected result, the empty and the extreme ones among them, and the approach you would take. Hand on the list without code.`,
    thing: 'the code',
    how: 'Make it complete and ready to run; handle empty and extreme input; use nothing that has to be installed unless that was asked for.',
    check: 'Trace it by hand with a usual, an empty and an extreme input, and hold each result against what was asked. Put right what does not hold.',
    hand: 'Return the complete code in one fenced block, and below it a sentence on how it is used.',
  },
  'bug': {
    ...CHANGE,
    look: (what, of) => `Trace how this comes about: ${what}. Follow the reported case through ${of} to the line that is responsible; say what it does, what it should do, and which other cases it touches. Hand on your diagnosis without code.`,
    thing: 'the fix',
    how: 'Find the line that causes it first, then make the smallest change that removes the cause in every case it touches, and keep what works.',
    fromNotes: 'Follow the diagnosis you are shown; where the code contradicts it, the code has the last word, and you say so in a sentence.',
    check: 'Trace the reported case and two near it (empty, boundary, repeated) through it, and see that what worked still works. Put right what does not hold.',
  },
  'refactor': {
    ...CHANGE,
    look: (what, of) => `Study what is to be changed: ${what}. List what ${of} does and who uses it, what has to stay the same for them, and the steps of the change in an order that keeps everything working. Hand on the list without code.`,
    thing: 'the change',
    how: 'Keep the behaviour and every public name that was not asked about; change all places that use what moves or is renamed; add nothing else.',
    check: 'See that behaviour is the same, that no place that uses it is left behind, and that nothing was added that was not asked for. Put right what does not hold.',
  },
  'tests': {
    ...CHANGE,
    fromNotes: 'Cover the cases you are shown.',
    look: (what, of) => `Work out which tests are needed: ${what}. List the cases of ${of} with their expected results: the usual one, each boundary, empty input, errors, and whatever the code treats apart. Hand on the list without code.`,
    thing: 'the tests',
    how: 'Cover the usual case, each boundary, empty input and errors; let each test be named for the behaviour that it holds and be red if that behaviour is lost. Use the test framework and style of the project, and leave the tested code as it is.',
    check: 'Ask of each test which change of the code would turn it red; look for a case that is missing, an expected result that does not follow from the code, and a test that depends on another. Put right what does not hold.',
    hand: 'Return every test file whole, with its path.',
  },
  'performance': {
    ...CHANGE,
    look: (what, of) => `Work out where the time or memory goes: ${what}. Follow ${of} with a large input in mind, name the costliest places with how their cost grows, and what would make each cheaper. Hand on the list, costliest first, without code.`,
    thing: 'the faster version',
    how: 'Take the costliest place first; keep results and their order the same; say in a sentence how the cost grew before and how it grows now.',
    check: 'See that results and order are the same for usual, empty and large input, and that the cost is really lower. Put right what does not hold.',
  },
  'review': {
    ...WORDS,
    look: (what, of) => `Study what is to be reviewed: ${what}. Go through ${of} as somebody who means harm or has bad luck; note each place where input, order, time or size can lead to harm. Hand on the notes, each with its place.`,
    thing: 'the review',
    how: 'Go through it piece by piece. For each finding: the place, what can happen and when, how grave it is, and the remedy in a sentence; the gravest first. Say what you looked at and found sound, and what you could not see.',
    check: 'Hold each finding against the code you are shown: drop what cannot happen, sharpen what is vague, and add what was overlooked.',
    hand: 'Report in words and change no file.',
  },
  'documentation': {
    ...CHANGE,
    fromNotes: 'Take the facts you are shown as material; the code has the last word.',
    look: (what, of) => `Study what the text has to say: ${what}. Take from the code you are shown what ${of} is for, what it takes and returns, its errors and its limits. Hand on the facts, each with its place.`,
    thing: 'the documentation',
    how: 'Say what the code you are shown really does: purpose, parameters, results, errors, and a short example where it helps. Keep the form that the project uses, and leave the code as it is.',
    check: 'Hold each statement against the code you are shown, and look for a parameter, an error or a limit that is missing. Put right what does not hold.',
  },
  'build': {
    ...CHANGE,
    look: (what, of) => `Work out what it takes: ${what}. Name the files and settings around ${of} that are involved, which versions the project uses, and what has to keep working. Hand on a short plan without code.`,
    thing: 'the setup',
    how: 'Keep to what the project already uses, tools and versions alike, and keep what works; name the commands to run and how to see that it worked.',
    check: 'Go through it as a machine that has only the project: look for a step, a file or a version that is missing, and for what stops working. Put right what does not hold.',
    hand: 'Return every new or changed file whole, with its path, and the commands to run.',
  },
  'unclear': {
    fromNotes: 'Use the notes you are shown.',
    look: (what, of) => `Work out what is asked: ${what}. Say what is wanted of ${of}, which pieces of the code you are shown bear on it, and what has to hold. Hand on short notes; leave the answer to others.`,
    thing: 'the answer',
    how: 'If it asks a question, answer it in words. If it asks for code or a change, or reports that something is not as it should be, return the code, or every changed file whole with its path. If it can be read in two ways, say which one you took.',
    check: 'See that it gives what was asked for, in the form that was asked for, and that each statement holds in the code you are shown. Put right what does not hold.',
    hand: 'Return the whole answer.',
  },
};

/** Kinds whose question wants words get the hand-on of words, and the other way round: "set up …?" asks how. */
function formsOf({ kind, wants, reportsFault }: FormQuestion): KindForms {
  if (kind === 'small-talk') return KINDS.unclear;
  const forms = KINDS[kind];
  const givesWords = forms.hand === IN_WORDS || kind === 'how-to' || kind === 'review';
  if (wants === 'any' && kind !== 'unclear') {
    const hand = `If something has to change, ${lower(forms.hand)} If not, say in words what to do.`;
    return reportsFault ? { ...forms, thing: 'the answer', how: 'Say what causes it first.', hand } : { ...forms, hand };
  }
  if (wants === 'words' && !givesWords) return kind === 'build' ? KINDS['how-to'] : { ...KINDS.explain, look: forms.look };
  if (wants === 'change' && givesWords) return KINDS.feature;
  return forms;
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

const MOST_NAMES = 4;
const MOST_CHARACTERS_OF_A_NAME = 80;

const NAMELESS = 'it';

/** What the question is about, by its own names; "it" where it names nothing. */
function subjectOf({ names }: FormQuestion): string {
  const said = names.filter(({ kind }) => kind !== 'text').slice(0, MOST_NAMES).map(({ kind, text }) => {
    const short = text.length > MOST_CHARACTERS_OF_A_NAME ? `${text.slice(0, MOST_CHARACTERS_OF_A_NAME - 1)}…` : text;
    return kind === 'error' ? quoted(short) : `\`${short.replaceAll('`', '\'')}\``;
  });
  const last = said.pop();
  if (last === undefined) return NAMELESS;
  return said.length === 0 ? last : `${said.join(', ')} and ${last}`;
}

/** In quotes that the text does not hold itself. */
const quoted = (text: string): string => `"${text.replaceAll('"', '\'')}"`;

/** The gist, and the names that it does not hold. */
function whatOf(question: FormQuestion): string {
  const missing = question.names.filter(({ text }) => !question.gist.includes(text));
  const named = subjectOf({ ...question, names: missing });
  return named === NAMELESS ? quoted(question.gist) : `${quoted(question.gist)} (${named})`;
}

const ANOTHER_ATTEMPT = [
  '', 'Work on your own and by another way than the obvious one.', 'Work on your own, beginning with the hardest case.', 'Work on your own, in the simplest way that can hold.',
] as const;

const SEES_ROUND = 'Take into account the last answer and what the tests said of it; do not repeat what they refused.';

/** The instruction for a step. Always in English: it is for models, and the question in its own language goes with it. */
export function formOf(step: FormStep, question: FormQuestion): string {
  const { role, notes, drafts, attempt, seesRound, isFirst } = step;
  const whole = whatOf(question);
  if (question.kind === 'small-talk') return `Write a short reply to ${whole}: one or two friendly sentences, in the language of the message. No work on the project is asked for.`;
  const forms = formsOf(question);
  const subject = subjectOf(question);
  const about = subject === NAMELESS ? '' : `, about ${subject}`;
  const another = ANOTHER_ATTEMPT[Math.min(attempt, ANOTHER_ATTEMPT.length - 1)] as string;
  const instructions: Readonly<Record<StepRole, () => readonly string[]>> = {
    plan: () => [
      forms.look(isFirst || subject === NAMELESS ? whole : subject, subject),
      notes + drafts > 0 ? 'Take what you are shown as a beginning, and correct it where it does not hold.' : another,
    ],
    write: () => [
      // A colon, a comma or a full stop ends what is to be written: "write the change in plan.ts" must not read as "write the plan".
      isFirst ? `Write ${forms.thing} asked for: ${whole}.` : `Write ${forms.thing} asked for${about}.`,
      notes > 0 ? forms.fromNotes : '',
      drafts > 0 ? 'Begin with the draft you are shown, keep what holds and change what does not.' : '',
      forms.how,
      another,
    ],
    check: () => (drafts > 1
      ? [`Compare the drafts you are shown${about}.`, forms.check, 'Keep the one that holds best and take over what another does better.']
      : [`Check the draft you are shown${about}.`, forms.check]),
  };
  return [...instructions[role](), seesRound ? SEES_ROUND : '', role === 'plan' ? '' : forms.hand].filter(Boolean).join(' ');
}
