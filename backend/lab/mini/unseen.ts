import type { PlanExample } from './examples.ts';

/*
 * Questions for evaluation, in words that occur in no example, about other projects, for other workers. They are few enough to be read.
 */

type Input = PlanExample['input'];

const QUESTIONS = [
  'Our chess engine lets a king castle out of check. Stop it from doing that, please.',
  'I inherited a 900 line React reducer. How would you break it up without breaking undo?',
  'The weather widget shows Fahrenheit for visitors from Canada.',
  'Could somebody add dark mode to the settings screen? The palette is in theme.css.',
  'Write takeWhileRight(list, predicate): the longest tail whose elements all satisfy the predicate.',
  'Regression after upgrading Postgres: ORDER BY name now puts ä behind z.',
  'What does the second argument of zipLongest do when the lists are equally long?',
  'nginx answers 502 whenever the upload is larger than 8 MB, the worker itself says nothing.',
  'sumColumns([[1,2],[3]]) blows up; ragged rows should count as zero.',
  'Implement a spell checker suggestion: at most one edit away, most frequent word first.',
  'Bitte behebe den Fehler in berechneRabatt: bei 0 Stück kommt NaN heraus.',
  'Our nightly ETL duplicates rows if it is restarted half way. Make it idempotent.',
  'Given a knight on an 8x8 board, return how many squares it can reach in exactly k jumps.',
  'The Rust borrow checker rejects my linked list push_front; show me a version that compiles.',
  'Turn this bash one-liner into a maintainable Node script with --dry-run.',
  'Make the autocomplete stop flickering while typing quickly.',
];

const POOLS: readonly Input['pool'][] = [
  [{ description: 'Very large model from a cloud vendor. Superb at long reasoning, costs a fortune.' }, { description: 'Tiny distilled coder, answers in a blink.' }],
  [{}, {}, {}],
  [
    { description: 'Front-end person: CSS, React, accessibility.' }, { description: 'Backend person: SQL, queues, nginx, Postgres.' },
    { description: 'Algorithms and puzzles.' }, { description: 'Picky reviewer who never writes a line.' },
  ],
  [{ description: 'The only one we have.' }],
  [{ description: 'alpha' }, {}, { description: 'gamma, strict about types' }, {}, { description: 'epsilon' }, { description: 'zeta' }],
  [
    { description: 'GPT, general purpose.' }, { description: 'Claude, writes and reviews.' }, { description: 'Gemini, long documents.' },
    { description: 'Local 7B, private.' }, { description: 'Local 1B, for autocompletion.' },
  ],
];

const SHORT = ['fix', 'bug', 'Refactor!', 'ok', '42', 'warum?', 'ls -la', '🙂', 'please', 'go'];

const PLAN_BEFORE = [
  'A plan first, then the code.\n\nmodel_id = [0, 0]\nsubtasks = ["Plan the work.", "Write the code as the plan says."]\naccess_list = [[], ["all"]]',
  'One worker can do this alone.\n\nmodel_id = [0]\nsubtasks = ["Solve the question."]\naccess_list = [[]]',
];
const CAME_OF_IT = [
  'The project\'s tests pass. 2 tests were mended and none was broken.',
  'The project\'s tests do not pass with this answer. 1 test still fails.\n- suite > handles leap seconds: failed before, failed after\n  expected 61 to be 60',
  'The answer was not tested: it changes no file that tests could judge.',
];

/** First rounds, later rounds, and texts that are hardly questions. */
export function unseenInputs(): Readonly<Record<'byHand' | 'laterRounds' | 'short', readonly Input[]>> {
  const poolOf = (index: number): Input['pool'] => POOLS[index % POOLS.length] as Input['pool'];
  const byHand = QUESTIONS.map((question, index) => ({ question, context: '', pool: poolOf(index), rounds: [] }));
  const laterRounds = byHand.map((input, index) => {
    const past = { planText: PLAN_BEFORE[index % 2] as string, answer: 'See `src/clock.ts`: I changed one line.', feedback: CAME_OF_IT[index % 3] as string };
    return { ...input, rounds: [past] };
  });
  return { byHand, laterRounds, short: SHORT.map((question, index) => ({ question, context: '', pool: poolOf(index), rounds: [] })) };
}
