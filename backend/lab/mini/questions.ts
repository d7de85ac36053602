import type { Dice } from './dice.ts';
import { EXTENSIONS, FILES, LANGUAGES, NAME_NOUNS, NAME_VERBS, type Topic, TOPICS } from './topics.ts';

/** The kind of a question, which determines the subtasks. */
export type Want = 'fix' | 'feature' | 'refactoring' | 'explanation' | 'speed' | 'tests';

export interface MadeQuestion {
  readonly text: string;
  readonly want: Want;
  /** Topic; undefined for a text without one. */
  readonly topic: Topic | undefined;
}

const TEMPLATES: Readonly<Record<Want, readonly string[]>> = {
  fix: [
    '{name} returns {value} for {case}, it should be {value}.',
    '{name}({value}) gives {value}, but I expect {value}.',
    '{name} {fails} for {case}.',
    'When there is {case}, {name} {fails}.',
    'The {thing} is wrong after {name}: {case} is not handled.',
    'Why does {name} {fail} for {case}?',
    '{file}: {name} {fails} when given {case}. {please}',
    'Since the last release the {thing} disappears for {case}. I suspect {name}.',
    'Bug: {case} breaks {name}. Expected {value}, got {value}.',
    'We get "{error}" from {name} for {case}.',
    'A test for {name} fails: expected {value}, received {value}.',
    'Our {thing} and {thing} do not agree for {case}; {name} looks off by one.',
    'Some {thing} is {wrong} by {name} even though {case} should be fine.',
    'Customers report that the {thing} is {wrong}. It happens for {case}.',
    '{error}\n    at {name} ({file}:{line})\nIt happens for {case}.',
    'Please fix {name} in {file}; it {fails} for {case}.',
  ],
  feature: [
    'Write a function {name} that {does}.',
    'Write a function {name}({params}) that {does}. {Detail}',
    'Implement {name}({params}) in {file}: it {does}.',
    'Add an option to {name} so that {case} is {right}.',
    'We need {name}, which {does}. {Detail}',
    'I want a {language} function that {does}; {detail}',
    'Extend {name} so that it also {does}.',
    'Create a class for a {thing} with methods {name} and {name}. {Detail}',
    '{name} should {do}. {Detail}',
    'Please implement the missing body of {name} in {file}. It {does}.',
    'The function {name}({params}) {does}. {Detail} Complete it.',
    'Support {case} in {name}.',
    'Add a method {name}({params}) to {file} and a test for it.',
    'Add {name} to the {thing}. {Detail}',
  ],
  refactoring: [
    'Refactor {name}: it is too long and mixes the {thing} with the {thing}.',
    'Split {file} into smaller parts without changing what it does.',
    'Remove the duplication between {name} and {name}.',
    'Rename {name} to {name} everywhere and keep the tests green.',
    'Move the {thing} out of {name} into a class of its own.',
    'Convert {file} from callbacks to async functions.',
    'Make {name} pure: it should not change its {thing}.',
    'Port {name} from {language} to {language}.',
  ],
  explanation: [
    'Explain what {name} does for {case}.',
    'How does {name} in {file} work?',
    'What is the difference between {name} and {name}?',
    'Why do we need {name} for each {thing}?',
    'Where is the {thing} checked, and what happens for {case}?',
    'Document {name}: parameters, result and what it does for {case}.',
    'What does {name} do?',
    'Explain what {name} does and when it {fails}. Do not change any code.',
    'Can you explain {file} to me? {name} {does}, and I do not see why.',
    'Why is the {thing} {wrong} here?',
    'What happens for {case} in {name}?',
    'When does {name} {fail}? Only explain, please.',
    'Describe how {file} handles {case}.',
    'Is {name} safe for {case}?',
  ],
  speed: [
    '{name} takes {line} seconds for a large {thing}. Make it faster.',
    'Speed up {name}; profiling shows that most time goes into the {thing}.',
    '{name} is quadratic in the number of {thing}s. Can it be linear?',
    'Memory grows with every call of {name}. Find the leak.',
    'Reduce the number of times that {name} reads the {thing}.',
  ],
  tests: [
    'Write tests for {name}, with {case} among them.',
    'Add unit tests that cover {case} and {case} in {name}.',
    'The tests of {name} are flaky. Make them reliable.',
    'Which cases do the tests of {file} miss? Add them.',
    'Write a property-based test for {name}.',
  ],
};

const SHARES: readonly (readonly [Want, number])[] = [
  ['fix', 0.38], ['feature', 0.29], ['refactoring', 0.08], ['explanation', 0.14], ['speed', 0.05], ['tests', 0.06],
];

const WORDS = {
  fails: ['fails', 'throws', 'crashes', 'loops for ever', 'returns nothing', 'gives the wrong result', 'is off by one', 'ignores the input', 'drops the last one', 'returns the same thing twice'],
  fail: ['fail', 'throw', 'crash', 'hang', 'return null', 'give the wrong result', 'lose an entry', 'ignore it'],
  wrong: ['wrong', 'missing', 'counted twice', 'empty', 'in the wrong order', 'too long', 'rounded down', 'left out'],
  right: ['allowed', 'skipped', 'handled', 'reported', 'rejected with a clear error', 'kept as it is'],
  please: ['Please fix it.', 'Can you mend it?', 'It worked before.', 'The tests fail.', 'What is wrong?', 'Keep the rest as it is.'],
  error: ['TypeError: cannot read properties of undefined', 'IndexError: list index out of range', 'panic: runtime error', 'RangeError: Invalid array length', 'KeyError', 'NullPointerException', 'AssertionError', 'stack overflow', 'ValueError: invalid literal'],
  does: [
    'returns the {thing} with the largest {thing}', 'counts every {thing} in a {thing}', 'turns a {thing} into a {thing}', 'checks that a {thing} is valid',
    'reads a {thing} and returns each {thing} in order', 'removes each {thing} that appears twice', 'joins the {thing}s that belong together',
    'splits a {thing} at every {thing}', 'finds the first {thing} without a {thing}', 'sorts the {thing}s by their {thing}', 'adds up the {thing}s, weighted by {value}',
    'replaces each {thing} by the one before it', 'takes a {thing} and a limit and returns the rest', 'works out how many {thing}s fit into a {thing}',
    'compares two {thing}s and says which comes first', 'keeps the last {line} {thing}s',
  ],
  do: ['return every {thing}', 'accept {case}', 'stop at the first {thing}', 'keep the order of the {thing}s', 'raise an error for {case}', 'also take a {thing}'],
  Detail: ['For {case} it returns {value}.', 'It must handle {case}.', 'Ignore {case}.', 'Ties keep their order.', 'Do not change the input.', 'For example, {value} gives {value}.', 'An empty input gives {value}.', 'Later values replace earlier ones.', 'Use {language}.'],
  detail: ['for {case} it returns {value}.', 'it must handle {case}.', 'no libraries, please.', '{case} gives {value}.', 'it has to be fast.'],
  params: ['text', 'items', 'a, b', 'list, limit', 'rows, key', 'value, options', 'input', 'n', 'grid', 'start, end', 'lines, width'],
  language: LANGUAGES,
};

const BEFORE = ['Hi, ', 'Hello! ', 'Quick one: ', 'In our project, ', 'Small issue: ', 'Urgent: ', 'I have a problem. ', ''];
const AFTER = [' Please fix it.', ' Thanks!', ' The tests must pass.', ' Give me the whole file.', ' Keep the public names.', ' Any idea?', ' Do not touch the tests.', ' It is in the module of the same name.'];

/** Introductions of details; a sentence with the details follows each. */
const ACCOUNTS = ['{name} {does}.', 'It {does}, and {name} {does}.', 'The {thing} comes from {file}.', 'For {case} it {fails}.', '{name}({value}) gives {value}.', 'A {thing} is {right}, a {thing} is not.'];

/** Incomplete questions, as people write them, too. */
const FRAGMENTS: readonly (readonly [Want, readonly string[]])[] = [
  ['fix', ['fix it', 'help', 'tests fail', 'it does not work', 'TODO', 'continue', 'undefined', 'the build is red', 'same as before', 'x', 'do it']],
  ['explanation', ['Why?', 'hello', 'explain', '?', 'what now', 'what is this', 'how']],
  ['speed', ['make it faster']],
  ['refactoring', ['clean this up']],
  ['tests', ['add tests']],
  ['feature', ['write a function']],
];

export function makeQuestion(dice: Dice): MadeQuestion {
  const form = dice.weighted([0.9, 0.04, 0.06]);
  if (form === 1) {
    const [want, texts] = FRAGMENTS[dice.weighted(FRAGMENTS.map(([, { length }]) => length))] as (typeof FRAGMENTS)[number];
    return { text: dice.pick(texts), want, topic: undefined };
  }
  if (form === 2) return { text: strangeText(dice), want: dice.pick(['fix', 'feature', 'explanation']), topic: undefined };
  const [want] = SHARES[dice.weighted(SHARES.map(([, share]) => share))] as (typeof SHARES)[number];
  const topic = dice.pick(TOPICS);
  const words = wordsOf(topic, dice);
  const asked = styled(dice.fill(dice.pick(TEMPLATES[want]), words), dice);
  // Sometimes a long report, which the prompt may have to clip.
  const more = Array.from({ length: dice.chance(0.06) ? 2 + dice.below(7) : 0 }, () => dice.fill(`${dice.pick(ACCOUNTS)} {Detail}`, words));
  return { text: [asked, ...more].join(' '), want, topic };
}

function wordsOf(topic: Topic, dice: Dice): Record<string, readonly string[]> {
  const names = dice.chance(0.6) ? topic.functions : Array.from({ length: 3 }, () => madeName(dice));
  return {
    ...WORDS,
    name: names,
    thing: topic.things,
    case: topic.cases,
    file: [`${dice.pick(FILES)}/${dice.pick([...topic.things, ...names]).split(/[ .]/)[0]}.${dice.pick(EXTENSIONS)}`],
    value: Array.from({ length: 3 }, () => madeValue(dice)),
    line: [String(2 + dice.below(60)), String(10 + dice.below(400))],
  };
}

function styled(text: string, dice: Dice): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  // A name at the beginning keeps its case.
  const begun = dice.chance(0.15) ? dice.pick(BEFORE) + text : /^[a-z]+ /.test(text) ? capital : text;
  const ended = dice.chance(0.2) ? begun + dice.pick(AFTER) : begun;
  if (dice.chance(0.05)) return ended.toLowerCase();
  return dice.chance(0.05) ? ended.replace(/[.!?]+$/, '') : ended;
}

function madeName(dice: Dice): string {
  const [verb, first, second] = [dice.pick(NAME_VERBS), dice.pick(NAME_NOUNS), dice.pick(NAME_NOUNS)];
  const style = dice.below(5);
  if (style === 0) return `${verb}_${first.toLowerCase()}`;
  if (style === 1) return `${first}.${verb}`;
  if (style === 2) return `${verb}${first}${second}`;
  return style === 3 ? `${verb.charAt(0).toUpperCase()}${verb.slice(1)}${first}` : `${verb}${first}`;
}

function madeValue(dice: Dice): string {
  const number = (): string => String(dice.below(dice.pick([4, 30, 1000])));
  const word = (): string => dice.pick(NAME_NOUNS).toLowerCase();
  switch (dice.below(8)) {
    case 0: return `"${word()}"`;
    case 1: return `[${number()}, ${number()}]`;
    case 2: return `-${number()}`;
    case 3: return dice.pick(['null', 'undefined', 'true', 'false', 'NaN', '[]', '""', '{}']);
    case 4: return `"${word()} ${word()}"`;
    case 5: return `[[${number()}, ${number()}], [${number()}, ${number()}]]`;
    case 6: return `${number()}.${number()}`;
    default: return number();
  }
}

/** Random letters, words, code and characters: the answer must be a plan for any input. */
function strangeText(dice: Dice): string {
  const piece = (): string => {
    switch (dice.below(6)) {
      case 0: return Array.from({ length: 2 + dice.below(8) }, () => String.fromCharCode(97 + dice.below(26))).join('');
      case 1: return Array.from({ length: 1 + dice.below(6) }, () => String.fromCodePoint(0xa1 + dice.below(0x2000))).join('');
      case 2: return `const ${madeName(dice)} = (${dice.pick(WORDS.params)}) => ${madeValue(dice)};\n`;
      case 3: return madeValue(dice);
      case 4: return `def ${dice.pick(dice.pick(TOPICS).functions)}(${dice.pick(WORDS.params)}):\n    return ${madeValue(dice)}\n`;
      default: return dice.pick(dice.pick(TOPICS).things);
    }
  };
  return Array.from({ length: 1 + dice.below(12) }, piece).join(dice.pick([' ', ' ', ', ']));
}
