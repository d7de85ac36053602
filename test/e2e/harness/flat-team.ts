import type { SimulatedRequest } from '../../../backend/simulator/simulated-model.ts';
import type { SimulatedWorker } from '../../../backend/simulator/pool.ts';
import { skillsOf } from '../../../backend/simulator/skills.ts';
import { readView } from '../../../backend/simulator/view.ts';
import type { WorkerRule } from '../../../backend/simulator/worker-model.ts';
import { signature } from '../../../backend/simulator/worker-texts.ts';

/*
 * Four simulated models that know the package `flat` (flat-project.ts). They write the plans and the answers that good models would write,
 * and they mind what they are told: one that is asked for a plan plans, one that is asked to find a cause writes no code, and one that
 * lacks what its subtask is about says so and changes nothing.
 */

const model = (name: string, inputPerMillion: number, outputPerMillion: number): SimulatedWorker => ({
  name, wire: 'openai-chat', description: 'A simulated model.', skills: skillsOf([1, 1, 1]),
  latency: { firstTokenMs: 200, tokensPerSecond: 400 }, price: { inputPerMillion, outputPerMillion },
});

/** In the order in which a list of models shows them, and so in which they are added. */
export const FLAT_TEAM: readonly SimulatedWorker[] = [
  model('sim-coder', 0.6, 2.4), model('sim-large', 3, 15), model('sim-quick', 0.1, 0.4), model('sim-reader', 1, 5),
];

export const answerAsFlatTeam: WorkerRule = ({ name }, request) => `${signature(name)}\n\n${planOf(request) ?? answerOf(request)}`;

interface Plan {
  readonly why: string;
  /** Worker, instruction, and the earlier steps that it reads. */
  readonly steps: readonly (readonly [worker: number, subtask: string, reads: readonly number[]])[];
}

const [CODER, LARGE, QUICK, READER] = [0, 1, 2, 3] as const;

const PLANS: readonly (readonly [question: RegExp, plan: Plan])[] = [
  [/makes? an array or an object/, {
    why: 'The answer stands in one function, and one careful reader can put it into words.',
    steps: [[READER, 'Explain how unflatten() in index.js decides between an array and an object. Name the lines that decide. Words only.', []]],
  }],
  [/one level too deep/, {
    why: 'The cause has to be found first. The change is then small, and a second pair of eyes is cheap.',
    steps: [
      [LARGE, 'Find why flatten() in index.js descends one level too deep with maxDepth: 2. Name the line and what it should say. Write no code.', []],
      [CODER, 'Make the change to flatten() in index.js that the diagnosis names, and nothing else. Return the edit.', [0]],
      [READER, 'Compare the edit of flatten() with the diagnosis and with the test "Custom Depth". Return the edit as it should be applied.', [0, 1]],
    ],
  }],
  [/skipEmpty/, {
    why: 'The option belongs into one loop. One worker writes it, another checks it against the test that is there already.',
    steps: [
      [CODER, 'Add the option skipEmpty to flatten() in index.js: with it, a key whose value is an empty object or an empty array is left out. Return the edit.', []],
      [LARGE, 'Compare the edit for skipEmpty with the test "Skip Empty". Return the edit as it should be applied.', [0]],
    ],
  }],
  [/thank/i, { why: 'A thank-you asks for no work.', steps: [[QUICK, 'Answer the thanks in one friendly sentence.', []]] }],
];

/** A plan, where one is asked for. */
function planOf({ messages }: SimulatedRequest): string | undefined {
  const text = messages.map(({ content }) => content).join('\n\n');
  if (!text.includes('AVAILABLE WORKERS:')) return undefined;
  const question = /USER QUESTION:\n(.*)/.exec(text)?.[1] ?? '';
  const plan = PLANS.find(([about]) => about.test(question))?.[1];
  return plan ? written(plan) : 'I only know questions about the package flat.';
}

const written = ({ why, steps }: Plan): string => [
  why,
  `model_id = ${JSON.stringify(steps.map(([worker]) => worker))}`,
  `subtasks = ${JSON.stringify(steps.map(([, subtask]) => subtask))}`,
  `access_list = ${JSON.stringify(steps.map(([, , reads]) => reads))}`,
].join('\n');

interface Errand {
  readonly told: RegExp;
  /** What must be shown to do it: of the project, and of others' work. */
  readonly code: readonly string[];
  readonly work: readonly string[];
  readonly answer: string;
}

const edit = (before: string, after: string): string => `index.js\n<<<<<<< SEARCH\n${before}\n=======\n${after}\n>>>>>>> REPLACE`;

const TOO_DEEP = '(!opts.maxDepth || currentDepth <= maxDepth)) {';
const RIGHT_DEPTH = '(!opts.maxDepth || currentDepth < maxDepth)) {';
const OUTPUT = '      output[newKey] = value\n';
const UNLESS_EMPTY = `      if (opts.skipEmpty && isobject && !isbuffer && !Object.keys(value).length) {
        return
      }

      output[newKey] = value
`;

const ERRANDS: readonly Errand[] = [
  {
    told: /^Explain how unflatten/, code: ['function getkey', "typeof key2 === 'number'"], work: [],
    answer: `\`unflatten()\` decides **by the next part of the key**.

1. \`getkey()\` turns a part into a number if it reads as one and has no dot in it. With the option \`object\` it never does.
2. Where nothing is there yet, \`typeof key2 === 'number' && !opts.object\` makes an array, and everything else an object.

So \`'a.0'\` gives \`{ a: [ … ] }\`, \`'a.b'\` gives \`{ a: { b: … } }\`, and \`{ object: true }\` gives objects alone.`,
  },
  {
    told: /^Find why flatten/, code: [TOO_DEEP], work: [],
    answer: 'The condition in `step()` says `currentDepth <= maxDepth`. At depth 2 it is still true, so the object there is entered once more. It should say `currentDepth < maxDepth`.',
  },
  { told: /^Make the change to flatten/, code: [TOO_DEEP], work: ['currentDepth < maxDepth'], answer: `As the diagnosis says:\n\n${edit(`        ${TOO_DEEP}`, `        ${RIGHT_DEPTH}`)}` },
  {
    told: /^Compare the edit of flatten/, code: [TOO_DEEP, 'Custom Depth'], work: ['currentDepth < maxDepth', '>>>>>>> REPLACE'],
    answer: `With the edit, \`maxDepth: 2\` keeps \`{ again: 'good morning' }\` whole, as "Custom Depth" expects.\n\n${edit(`        ${TOO_DEEP}`, `        ${RIGHT_DEPTH}`)}`,
  },
  { told: /^Add the option skipEmpty/, code: [OUTPUT], work: [], answer: `The loop returns before it writes an empty value:\n\n${edit(OUTPUT.trimEnd(), UNLESS_EMPTY.trimEnd())}` },
  {
    told: /^Compare the edit for skipEmpty/, code: [OUTPUT, 'Skip Empty'], work: ['opts.skipEmpty', '>>>>>>> REPLACE'],
    answer: `\`tags\` and \`meta.none\` are left out, and \`meta.one\` stays, as "Skip Empty" expects.\n\n${edit(OUTPUT.trimEnd(), UNLESS_EMPTY.trimEnd())}`,
  },
  { told: /^Answer the thanks/, code: [], work: [], answer: 'You are welcome. Good luck with the rest!' },
];

/** What a worker says to its subtask. */
function answerOf({ messages }: SimulatedRequest): string {
  const { subtask, context, steps } = readView(messages);
  const errand = ERRANDS.find(({ told }) => told.test(subtask));
  if (!errand) return subtask === '' ? 'ready' : 'I only know the package flat, and not this subtask.';
  const work = steps.map(({ output }) => output).join('\n');
  const missing = [...errand.code.filter((code) => !context.includes(code)), ...errand.work.filter((part) => !work.includes(part))];
  return missing.length === 0 ? errand.answer : `I cannot do that: I was not shown \`${(missing[0] as string).trim()}\`.`;
}
