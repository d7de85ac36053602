import { REASONS, SUBTASKS, type Reason } from './conductor-phrases.ts';
import { KeyedRandom } from '../common/keyed-random.ts';
import { keyOf, type SimulatedMessage, type SimulatedRequest } from './simulated-model.ts';
import { Team } from './team.ts';

/** Rate of invalid plans, so that format retries really happen. */
const INVALID_SHARE = 0.06;

export interface ConductorCharacter {
  readonly name: string;
  readonly seed: number;
}

/**
 * Simulates a Conductor: it writes reasoning, then the three lists. It chooses among a few plan shapes by the question and the workers'
 * descriptions. It does not know their hidden skills.
 */
export function answerAsConductor({ name, seed }: ConductorCharacter, request: SimulatedRequest): string {
  const prompt = readPrompt(request.messages);
  const random = new KeyedRandom('conductor', seed, name, keyOf(request));
  const draft = draftPlan(prompt, random);
  return [
    prompt.opening,
    `(Simulated by ${name}: a plan made by rules, not by a language model.) ${random.pick('reason', REASONS[draft.reason])}`,
    '',
    random.chance('invalid', INVALID_SHARE) ? invalidLists(draft, prompt, random) : lists(draft),
  ]
    .filter((line) => line !== undefined)
    .join('\n');
}

interface Prompt {
  readonly question: string;
  /** Descriptions by ordinal. */
  readonly workers: readonly string[];
  readonly maxSteps: number;
  /** Feedback on the last round's answer; undefined in the first round. */
  readonly feedback: string | undefined;
  /** The requested beginning of the reply. */
  readonly opening: string | undefined;
}

function readPrompt(messages: readonly SimulatedMessage[]): Prompt {
  const asked = messages.filter(({ role }) => role !== 'assistant').map(({ content }) => content);
  const text = asked.join('\n\n');
  const roster = /AVAILABLE (?:WORKERS|LANGUAGE MODELS):?\s*\n([\s\S]*?)(?:\n\n|$)/i.exec(text)?.[1] ?? '';
  const listed = [...roster.matchAll(/^[ \t]*(?:[-*] *)?(?:Worker|Model(?: id)?) *(\d+)\b:?[ \t]*(.*)$/gim)];
  const workers: string[] = [];
  for (const [, ordinal, description = ''] of listed) workers[Number(ordinal)] ??= description;
  const feedback = /TEST FEEDBACK:\s*\n([\s\S]*?)(?:\n\nYou may now write another plan|$)|<feedback>([\s\S]*?)<\/feedback>/gi;
  const lastFeedback = [...text.matchAll(feedback)].at(-1);
  return {
    question: /USER QUESTION:\s*\n([\s\S]*?)(?=\n\n(?:AVAILABLE|Now reason)|$)/i.exec(text)?.[1]?.trim() ?? text.slice(0, 4_000),
    workers: workers.length > 0 ? Array.from(workers, (description) => description ?? '') : [''],
    maxSteps: Number(/at most (\d+) steps/i.exec(text)?.[1] ?? 5),
    feedback: lastFeedback ? (lastFeedback[1] ?? lastFeedback[2] ?? '').trim() : undefined,
    opening: /Begin your reply with:\s*(.+)\s*$/.exec(asked.at(-1) ?? '')?.[1],
  };
}

interface DraftStep {
  readonly worker: number;
  readonly subtask: string;
  readonly access: 'none' | 'all';
}

interface Draft {
  readonly reason: Reason;
  readonly steps: readonly DraftStep[];
}

/** The shapes of a first plan, with their probabilities if no worker stands out. */
const SHAPES: readonly { readonly reason: Reason; readonly share: number }[] = [
  { reason: 'planned', share: 0.45 },
  { reason: 'judged', share: 0.3 },
  { reason: 'checked', share: 0.25 },
];

/** Probability of a one-step plan if one worker's description fits the question. */
const ALONE_SHARE = 0.4;

function draftPlan(prompt: Prompt, random: KeyedRandom): Draft {
  const { feedback, maxSteps } = prompt;
  const team = new Team(prompt.workers, prompt.question, random);
  const step = (worker: number, kind: keyof typeof SUBTASKS, access: 'none' | 'all', draw: string = kind): DraftStep => ({
    worker,
    subtask: random.pick(`subtask:${draw}`, SUBTASKS[kind]),
    access,
  });
  const planWriteCheck = (access: 'none' | 'all'): DraftStep[] => [
    step(team.best('plan'), 'plan', access),
    step(team.best('write', [team.best('plan')]), 'write', 'all'),
    step(team.best('check', [team.best('write', [team.best('plan')])]), 'check', 'all'),
  ];

  if (feedback !== undefined) {
    if (asksNoChange(feedback)) return { reason: 'kept', steps: [] };
    // The first step reads everything, too: otherwise it would not see the previous round and its test feedback.
    const steps = planWriteCheck('all');
    return { reason: 'revised', steps: maxSteps >= 3 ? steps : steps.slice(-1) };
  }
  if (maxSteps < 2 || (team.hasSpecialist() && random.chance('alone', ALONE_SHARE))) {
    return { reason: 'alone', steps: [step(team.best('write'), 'alone', 'none')] };
  }
  const shape = maxSteps < 3 ? 'checked' : drawShape(random);
  if (shape === 'planned') return { reason: shape, steps: planWriteCheck('none') };
  const writer = team.best('write');
  if (shape === 'checked') {
    return { reason: shape, steps: [step(writer, 'alone', 'none'), step(team.best('check', [writer]), 'check', 'all')] };
  }
  const second = team.best('write', [writer]);
  const attempts = [writer, second, team.best('write', [writer, second])].slice(0, Math.min(3, maxSteps - 1));
  return {
    reason: 'judged',
    steps: [
      ...attempts.map((worker, index) => step(worker, 'alone', 'none', `attempt ${index}`)),
      step(team.best('check', attempts), 'judge', 'all'),
    ],
  };
}

function drawShape(random: KeyedRandom): Reason {
  let rest = random.unit('shape');
  for (const { reason, share } of SHAPES) {
    rest -= share;
    if (rest < 0) return reason;
  }
  return 'planned';
}

/** Keeps the answer if the tests passed or gave no result. */
function asksNoChange(feedback: string): boolean {
  return /could not be (?:run|checked)|no test command|tests pass\b/i.test(feedback) && !/do not pass|refused/i.test(feedback);
}

function lists({ steps }: Draft): string {
  return [
    `model_id = [${steps.map(({ worker }) => worker).join(', ')}]`,
    steps.length > 0
      ? `subtasks = [\n${steps.map(({ subtask }) => `    ${JSON.stringify(subtask)},`).join('\n')}\n]`
      : 'subtasks = []',
    `access_list = [${steps.map(({ access }) => (access === 'all' ? '["all"]' : '[]')).join(', ')}]`,
  ].join('\n');
}

/** Typical format errors: an unknown worker, lists of different lengths, a missing list. */
function invalidLists(draft: Draft, { workers }: Prompt, random: KeyedRandom): string {
  const [first = { worker: 0, subtask: 'Fix the bug.', access: 'none' as const }, ...rest] = draft.steps;
  const text = lists({ ...draft, steps: [first, ...rest] });
  return random.pick('mistake', [
    lists({ ...draft, steps: [{ ...first, worker: workers.length + 3 }, ...rest] }),
    text.replace(/model_id = \[\d+/, (start) => `${start}, 0`),
    text.replace(/\naccess_list = .*/, ''),
  ]);
}
