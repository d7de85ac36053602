import type { PageReplies, PanelModel, PanelState, PoolSummary, ShownView, ViewOf, WorkerSummary } from '../../backend/protocol/panel-messages.ts';
import type { BaseResult, ContextPiece, Purpose, RunEvent, RunEventOf, RunText, Sampled, StoredEvent } from '../../backend/protocol/run-events.ts';
import type { FileChange } from '../../backend/protocol/file-change.ts';
import type { PlanMend } from '../../backend/protocol/plan-mend.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { applyText, snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import { TWO_COLOURS } from '../../backend/workers/try-pictures.ts';
import { stepsOf, type Access } from '../../backend/workflow/plan.ts';
import type { Cost, Usage } from '../../backend/protocol/usage.ts';
import type { StepEstimate, WorkEstimate } from '../../backend/protocol/work-estimate.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { trainingSummaryOf } from '../../backend/protocol/training.ts';
import {
  adoptedTraining, BEGIN, completedTraining, failedTraining, flatCompletedTraining, flatTraining, learnedTraining, learningTraining, overBudgetTraining, preparingTraining, runningTraining, TASK_NOTES, teamTraining, TRAININGS,
  waitingTraining, WHOLE_ROLLOUT,
} from './training-fixtures.ts';
import { MANY_TESTS, LEFT_OUT, NOTED, redIds, REGRESSED, STILL_RED, UNKNOWN_VERDICT, VERIFIED } from './verdict-fixtures.ts';
import { budgetSchema, workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';

/*
 * Runs in every state, made the way real ones are: by folding events. `Script` is a clock and a counter, so that a list of events
 * reads like the story of a run.
 */

export { BEGIN };

export function worker(id: string, change: Partial<WorkerConfig> = {}): WorkerConfig {
  return workerConfigSchema.parse({
    id, provider: 'openai-compatible', model: id, baseUrl: 'http://127.0.0.1:11434/v1', ...change,
  });
}

const POOL = [worker('gemini-pro'), worker('claude'), worker('gpt-5')];

const QUESTION = 'Why does `merge()` lose the outer interval when one contains the other?';

export function usage(output: number, input = 420): Usage {
  return { uncachedInput: input, cacheRead: 0, cacheWrite: 0, output, reasoning: 0, estimated: false };
}

interface Billed {
  readonly ms: number;
  readonly usd?: number;
  readonly output?: number;
  readonly estimated?: boolean;
}

export class Script {
  readonly #events: StoredEvent[] = [];
  readonly #runId: string;
  #at = BEGIN;
  #attempts = 0;
  #texts: RunText[] = [];

  constructor({ runId = 'run-1', question = QUESTION, pool = POOL, usd = 1, conductor = worker('conductor-7b'), attempts = 1, localFirst = false }: {
    runId?: string; question?: string; pool?: readonly WorkerConfig[]; usd?: number; conductor?: WorkerConfig; attempts?: number; localFirst?: boolean;
  } = {}) {
    this.#runId = runId;
    this.say({
      type: 'run.accepted',
      kind: 'solve',
      request: runRequestSchema.parse({ question, workspace: '/home/ada/intervals', attempts, ...(localFirst && { localFirst }) }),
      pool: [...pool],
      policy: {
        kind: conductor.provider === 'local' ? 'local' : 'endpoint', worker: conductor, model: conductor.model, promptVersion: 'paper-1',
        choice: conductor.provider === 'local'
          ? { why: 'chosen', estimate: { usd: 0, plans: 0 } }
          : { why: 'strongest', estimate: { usd: 0.0009, durationMs: 1_100, plans: 12 } },
      },
      budget: budgetSchema.parse({ runUsd: usd }),
    });
  }

  say(event: RunEvent, afterMs = 5): this {
    this.#at += afterMs;
    this.#events.push({ runId: this.#runId, seq: this.#events.length + 1, at: this.#at, event });
    return this;
  }

  context(pieces: readonly ContextPiece[] = PIECES, text = SENT_TEXT): this {
    return this.say({
      type: 'context.gathered',
      pieces: [...pieces],
      leftOut: [
        { path: '.env', reason: 'looks like a file of secrets' },
        { path: 'assets/logo.png', reason: 'not text' },
      ],
      tokens: pieces.reduce((sum, piece) => sum + piece.tokens, 0),
      text,
    }, 40);
  }

  /** An attempt begins; what it is for and who makes it. */
  start(round: number, purpose: Purpose, name: string, number = 1, afterMs = 5): this {
    this.#attempts += 1;
    return this.say({
      type: 'attempt.started', round, purpose, attemptId: this.#attempt, worker: name, number,
      reserved: { usd: 0.05, tokens: 9_000 },
    }, afterMs);
  }

  /** Text of the attempt that began last, or `back` before it. */
  stream(round: number, purpose: Purpose, text: string, back = 0): this {
    this.#texts.push({ runId: this.#runId, round, purpose, attemptId: `attempt-${this.#attempts - back}`, offset: 0, text });
    return this;
  }

  plan(round: number, { text, modelIds, subtasks, accessList }: {
    text: string; modelIds: number[]; subtasks: string[]; accessList: Access[];
  }, { ms, usd = 0.0007, sampled, mended }: Billed & { readonly sampled?: Sampled; readonly mended?: PlanMend } = { ms: 900 }): this {
    const plan = { modelIds, subtasks, accessList: accessList.map((access) => (access === 'all' ? access : [...access])) };
    this.start(round, { kind: 'plan' }, 'conductor-7b');
    return this.say({
      type: 'plan.proposed', round, attemptId: this.#attempt, text, plan,
      steps: stepsOf(plan).map(({ worker: ordinal, subtask, reads, readsPreviousRound }) => ({
        worker: ordinal, subtask, reads: [...reads], readsPreviousRound,
      })),
      ...(sampled && { sampled }),
      ...(mended && { mended }),
      ...this.#spent({ ms, usd, output: 180 }),
    }, ms);
  }

  step(round: number, step: number, name: string, output: string, billed: Billed): this {
    this.start(round, { kind: 'step', step }, name);
    return this.complete(round, step, output, billed);
  }

  complete(round: number, step: number, output: string, billed: Billed): this {
    return this.say({
      type: 'step.completed', round, step, attemptId: this.#attempt, output, finishReason: 'stop', ...this.#spent(billed),
    }, billed.ms);
  }

  /** A turn of a step with hands, and what its worker was given for it. */
  turn(round: number, step: number, name: string, said: Pick<RunEventOf<'step.turned'>, 'text' | 'calls'>, given: Pick<RunEventOf<'step.observed'>, 'text' | 'changes' | 'isLast'>): this {
    this.start(round, { kind: 'step', step }, name);
    this.say({ type: 'step.turned', round, step, attemptId: this.#attempt, ...said, ...this.#spent({ ms: 1_200, usd: 0.0012, output: 90 }) }, 1_200);
    return this.say({ type: 'step.observed', round, step, ...given, ...(said.calls && { text: '', results: said.calls.map(({ id }) => ({ callId: id, text: given.text })) }) }, 300);
  }

  fail(round: number, purpose: Purpose, message: string, retryInMs?: number, kind = 'overloaded'): this {
    return this.say({
      type: 'attempt.failed', round, purpose, attemptId: this.#attempt,
      failure: { kind, message, retryable: retryInMs !== undefined },
      ...(retryInMs !== undefined && { retryInMs }),
      ...this.#spent({ ms: 800, usd: 0, output: 0 }, 0),
    }, 800);
  }

  verdict(round: number, verdict: Verdict): this {
    this.say({ type: 'verify.started', round, command: verdict.command, sandboxed: verdict.sandboxed });
    return this.say({ type: 'verify.completed', round, verdict }, verdict.durationMs);
  }

  reject(round: number, reason: string, message: string, text: string): this {
    this.start(round, { kind: 'plan' }, 'conductor-7b');
    return this.say({
      type: 'plan.rejected', round, attemptId: this.#attempt, text, reason, message,
      ...this.#spent({ ms: 700, usd: 0.0006, output: 150 }),
    }, 700);
  }

  keep(round: number, text: string): this {
    this.start(round, { kind: 'plan' }, 'conductor-7b');
    return this.say({
      type: 'plan.kept', round, attemptId: this.#attempt, text, ...this.#spent({ ms: 600, usd: 0.0005, output: 60 }),
    }, 600);
  }

  get #attempt(): string {
    return `attempt-${this.#attempts}`;
  }

  #spent({ ms, usd, output = 240, estimated = false }: Billed, input = 420): { usage: Usage; cost: Cost; durationMs: number } {
    return {
      usage: { ...usage(output, input), estimated },
      cost: { estimated, ...(usd !== undefined && { usd }) },
      durationMs: ms,
    };
  }

  get now(): number {
    return this.#at;
  }

  run(): RunSnapshot {
    return this.#texts.reduce(applyText, snapshotOf(this.#events));
  }
}

const PIECES: readonly ContextPiece[] = [
  { path: 'src/merge.ts', startLine: 3, endLine: 21, reason: 'selection', tokens: 212 },
  { path: 'test/merge.test.ts', startLine: 1, endLine: 96, reason: '1 failing test', tokens: 1_110 },
  { path: 'src/interval.ts', startLine: 1, endLine: 14, reason: 'defines Interval', tokens: 130 },
  { path: 'src/calendar/free-slots.ts', startLine: 40, endLine: 78, reason: 'calls merge', tokens: 405 },
  { path: 'README.md', startLine: 12, endLine: 18, reason: 'mentions merge', tokens: 61 },
];

const SENT_TEXT = `## src/merge.ts, lines 3 to 21 (selection)
export function merge(list: Interval[]): Interval[] {
  const sorted = [...list].sort((x, y) => x[0] - y[0]);
  …
}`;

const DIFF = `--- a/src/merge.ts
+++ b/src/merge.ts
@@ -8,7 +8,7 @@ export function merge(list: Interval[]): Interval[] {
   for (const [a, b] of sorted) {
     const last = merged.at(-1);
-    if (last && a < last[1]) last[1] = b;
+    if (last && a <= last[1]) last[1] = Math.max(last[1], b);
     else merged.push([a, b]);
   }
   return merged;
`;

const FINAL = `Both cases come from one line. When the current interval ends *before* the last one, the last end is overwritten
by a smaller number.

\`\`\`ts path=src/merge.ts
export function merge(list: Interval[]): Interval[] {
  const sorted = [...list].sort((x, y) => x[0] - y[0]);
  const merged: Interval[] = [];
  for (const [a, b] of sorted) {
    const last = merged.at(-1);
    if (last && a <= last[1]) last[1] = Math.max(last[1], b);
    else merged.push([a, b]);
  }
  return merged;
}
\`\`\`

Touching intervals such as \`[1, 2]\` and \`[2, 5]\` are merged, too.`;

export const PLAN = {
  text:
    'The failure is in one small function, so one worker should find the broken case first, another writes the fix with that '
    + 'in hand, and a third checks it against the edge cases.\n\nmodel_id = [0, 1, 2]\nsubtasks = [...]\naccess_list = [[], [0], "all"]',
  modelIds: [0, 1, 2],
  subtasks: [
    'Find the case the loop forgets and state the invariant it should keep.',
    'Write the corrected function and nothing else.',
    'Check it against touching, nested and empty lists; return the final code.',
  ],
  accessList: [[], [0], 'all'] as Access[],
};

const FIRST_OUTPUT =
  'When the current interval ends before the last one, the last end is overwritten by a smaller number.\n\n'
  + '**Invariant:** the last end is the maximum of all ends so far. The comparison also has to be `<=`, or touching intervals '
  + 'stay apart.';

const SECOND_OUTPUT =
  '```ts\nexport function merge(list: Interval[]) {\n  const sorted = [...list].sort((x, y) => x[0] - y[0]);\n  …\n}\n```';

function answered(script: Script, round = 0, step = 2): Script {
  const edits = [{ path: 'src/merge.ts', kind: 'modify' as const, diff: DIFF }];
  return script.say({ type: 'answer.ready', round, step, edits, refused: [] });
}

function threeSteps(script: Script): Script {
  return script
    .context()
    .plan(0, PLAN)
    .step(0, 0, 'gemini-pro', FIRST_OUTPUT, { ms: 3_200, usd: 0.0031, output: 192 })
    .step(0, 1, 'claude', SECOND_OUTPUT, { ms: 6_000, usd: 0.0098, output: 980 })
    .step(0, 2, 'gpt-5', FINAL, { ms: 3_200, usd: 0.0013, output: 268 });
}

export function verifiedRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .verdict(0, VERIFIED)
    .say({ type: 'run.completed', outcome: 'verified', round: 0, message: 'The answer is verified.' })
    .run();
}

/** A question that continues from two others, whose change was not applied. */
export function followUpRun(state: 'there' | 'pending' | 'lost' = 'pending'): RunSnapshot {
  const run = verifiedRun();
  const question = 'And now sort by the end of an interval, too.';
  return {
    ...run, request: { ...run.request, question, continues: 'run-0b' },
    earlier: {
      thread: 'run-0a',
      exchanges: [
        { runId: 'run-0a', question: 'What does `merge()` do with nested intervals?', result: 'The answer changes no file. It is an explanation.', answer: '', state: 'completed', outcome: 'answered', isTold: false },
        { runId: 'run-0b', question: QUESTION, result: 'The project\'s tests verified the answer. 2 tests that failed before passed.', answer: FINAL, state: 'completed', outcome: 'verified', isTold: true },
      ],
      change: {
        runId: 'run-0b', state, edits: [],
        ...(state === 'lost' && { reason: 'The change of the earlier answer does not fit the project any more: src/merge.ts: The file was changed since.' }),
      },
    },
  };
}

/** A question with pictures, of which one worker sees none. */
export function picturesRun(): RunSnapshot {
  const run = verifiedRun();
  const shot = { type: 'image/png' as const, width: 256, height: 256, data: TWO_COLOURS };
  return {
    ...run,
    request: { ...run.request, question: 'The chart is cut off on the left, as in the picture. Mend it.', pictures: [shot, { ...shot, width: 1_280, height: 720 }] },
    pool: run.pool.map((one, index) => ({ ...one, pictures: index < 2 })),
  };
}

export function planningRun(): RunSnapshot {
  return new Script()
    .context()
    .start(0, { kind: 'plan' }, 'conductor-7b')
    .stream(0, { kind: 'plan' },
      'The failure is in one small function, so one worker should find the broken case first, another writes the')
    .run();
}

/** The tests on the code as it is: running, or with what they say. */
export function baseRun(result?: BaseResult): RunSnapshot {
  const script = new Script().say({ type: 'base.started', command: 'npm test', runner: 'vitest' });
  return (result ? script.say({ type: 'base.completed', ...result }).context() : script).run();
}

export const RED_BASE: BaseResult = {
  total: 120, failed: 3, flaky: 0, durationMs: 3_400,
  failing: [
    { id: 'test/merge.test.ts > merge > keeps the last', message: 'expected 2', places: [{ path: 'test/merge.test.ts', startLine: 12, endLine: 18 }] },
    { id: 'test/merge.test.ts > merge > joins touching ones', places: [] },
  ],
};

/** Two steps side by side: one streams, one waits to try again; two more wait for them. */
export function streamingRun(): RunSnapshot {
  const question = 'Make `freeSlots()` fast for calendars with 100,000 entries, without changing its results.';
  const script = new Script({ question })
    .context(PIECES.slice(0, 3))
    .plan(0, {
      text: 'Two looks at the problem at once, then a decision.',
      modelIds: [0, 1, 2, 1],
      subtasks: [
        'Measure in your head: which loop is quadratic, and for which inputs?',
        'List what callers of `freeSlots` rely on: order, touching slots, empty days.',
        'Write the faster version under these constraints.',
        'Look for a case in which the two versions differ.',
      ],
      accessList: [[], [], [0, 1], 'all'],
    })
    .start(0, { kind: 'step', step: 0 }, 'gemini-pro')
    .start(0, { kind: 'step', step: 1 }, 'claude')
    .stream(0, { kind: 'step', step: 0 },
      'The outer loop walks over every day. For each it filters **all** entries:\n\n'
      + 'for (const day of days) {\n  const busy = entries.filter((entry) => overlaps(entry, day));\n\n'
      + 'With n entries and d days that is n·d comparisons. Since entries arrive sorted by start, one pointer that', 1)
    .fail(0, { kind: 'step', step: 1 }, 'claude is overloaded at the moment.', 3_000);
  return script.run();
}

export function secondRoundRun(): RunSnapshot {
  return answered(
    answered(threeSteps(new Script()))
      .verdict(0, REGRESSED)
      .plan(1, {
        text: 'The fix forgot the empty list. One worker repairs it.',
        modelIds: [1, 2],
        subtasks: [
          'Repair the function for an empty list and for touching intervals.', 'Read it once more and return the whole file.',
        ],
        accessList: ['all', [0]],
      })
      .step(1, 0, 'claude', SECOND_OUTPUT, { ms: 4_100, usd: 0.0072, output: 700 })
      .step(1, 1, 'gpt-5', FINAL, { ms: 2_900, usd: 0.0012, output: 250 }),
    1, 1,
  )
    .verdict(1, VERIFIED)
    .say({ type: 'run.completed', outcome: 'verified', round: 1, message: 'The answer is verified.' })
    .run();
}

export function notVerifiedRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .verdict(0, REGRESSED)
    .keep(1, 'Nothing better comes to mind.\n\nmodel_id = []\nsubtasks = []\naccess_list = []')
    .say({
      type: 'run.completed', outcome: 'not-verified', round: 0,
      message: 'The tests do not confirm the answer: read it before you use it.',
    })
    .run();
}

export function refusedRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .verdict(0, {
      verified: false, score: 0, outcome: 'refused',
      reason: 'The answer changes test/merge.test.ts, and tests are not changed by an answer.',
      tests: [], command: 'node --test', sandboxed: true, notes: [], durationMs: 12,
    })
    .say({ type: 'run.completed', outcome: 'not-verified', round: 0, message: 'The answer was not accepted for checking.' })
    .run();
}

export function infrastructureRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .verdict(0, {
      verified: false, score: 0, outcome: 'infrastructure', reason: 'The tests could not start: npm is not installed.',
      tests: [], command: 'npm test', sandboxed: false, notes: [], durationMs: 95,
    })
    .say({ type: 'run.completed', outcome: 'unchecked', round: 0, message: 'The answer could not be checked.' })
    .run();
}

export function noSandboxRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .verdict(0, {
      verified: false, score: 0, outcome: 'infrastructure',
      reason: 'Running the tests without a sandbox was declined. The sandbox needs bubblewrap (bwrap). Install it with: sudo apt-get install bubblewrap',
      tests: [], command: 'npm test', runner: 'vitest', sandboxed: false, notes: [], durationMs: 0,
      remedy: 'sudo apt-get install bubblewrap',
    })
    .say({ type: 'run.completed', outcome: 'unchecked', round: 0, message: 'The answer could not be checked.' })
    .run();
}

export function notedRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .verdict(0, NOTED)
    .say({ type: 'run.completed', outcome: 'passes', round: 0, message: NOTED.reason })
    .run();
}

export function leftOutRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .verdict(0, LEFT_OUT)
    .say({ type: 'run.completed', outcome: 'passes', round: 0, message: LEFT_OUT.reason })
    .run();
}

export function manyTestsRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .verdict(0, MANY_TESTS)
    .say({ type: 'run.completed', outcome: 'not-verified', round: 0, message: MANY_TESTS.reason })
    .run();
}

/** An answer with edits that no test could judge, as none was found. */
export function untestedRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .say({ type: 'run.completed', outcome: 'unchecked', round: 0, message: 'There was no test to run.' })
    .run();
}

export function checkingRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .say({ type: 'verify.started', round: 0, command: 'npm test', runner: 'vitest', sandboxed: true })
    .run();
}

const CHANGES_NOTHING = 'The answer changes no file, so there was nothing to test.';

/** As a run of an earlier version ends, which did not read what a question asks for. */
export function uncheckedRun(): RunSnapshot {
  return wordsRun({ outcome: 'unchecked', message: CHANGES_NOTHING });
}

export function answeredRun(): RunSnapshot {
  return wordsRun({ outcome: 'answered', message: 'The question asks for words, and the answer changes no file.' });
}

export function unchangedRun(): RunSnapshot {
  return wordsRun({ outcome: 'not-verified', message: 'The question asks for a change, but the answer changes no file.' }, 'Make `union` keep the order, as `merge` does.');
}

function wordsRun(end: Pick<RunEventOf<'run.completed'>, 'outcome' | 'message'>, question = 'What is the difference between `merge` and `union` here?'): RunSnapshot {
  const estimated = { ms: 2_000, output: 610, estimated: true };
  return new Script({ question })
    .context([])
    .plan(0, {
      text: 'One worker suffices.', modelIds: [0], subtasks: ['Explain the difference in a few sentences.'], accessList: [[]],
    })
    .step(
      0, 0, 'gemini-pro',
      'They differ in *order*:\n\n1. `merge` keeps it.\n2. `union` sorts.\n\nSee [the docs](https://example.org/docs).',
      estimated,
    )
    .say({ type: 'answer.ready', round: 0, step: 0, edits: [], refused: [] })
    .say({ type: 'run.completed', round: 0, ...end })
    .run();
}

export function budgetRun(): RunSnapshot {
  return new Script({ usd: 0.01 })
    .context()
    .plan(0, PLAN)
    .step(0, 0, 'gemini-pro', FIRST_OUTPUT, { ms: 3_200, usd: 0.0031, output: 192 })
    .step(0, 1, 'claude', SECOND_OUTPUT, { ms: 6_000, usd: 0.0061, output: 980 })
    .say({ type: 'budget.warned', limit: 'runUsd', spent: 0.0092, of: 0.01 })
    .say({
      type: 'run.stopped', reason: 'budget', limit: 'runUsd',
      message: 'The next call could cost more than is left of $0.01. Raise the budget and resume.',
    })
    .run();
}

/** A run that asks the second step of an earlier one again. */
export function retriedRun(): RunSnapshot {
  const run = verifiedRun();
  const rounds = run.rounds.map((round) => ({
    ...round, planKeptFrom: 'run-0', steps: round.steps.map((step) => (step.index === 0 ? { ...step, keptFrom: 'run-0' } : step)),
  }));
  return { ...run, parentId: 'run-0', retried: { round: 0, step: 1 }, rounds, warnings: [{ limit: 'dayUsd', spent: 8.4, of: 10 }] };
}

export function rejectedRun(): RunSnapshot {
  const text = 'model_id = [0, 99]\nsubtasks = ["Find it.", "Mend it."]\naccess_list = [[], "all"]';
  const message = 'The plan names worker 99, and there are workers 0 to 2.';
  return new Script()
    .context()
    .reject(0, 'unknown-worker', message, text)
    .reject(0, 'unknown-worker', message, text)
    .say({
      type: 'run.failed',
      failure: {
        kind: 'plan-rejected', retryable: true,
        message: 'The Conductor wrote no valid plan in 2 tries. Try again, or choose another Conductor.',
      },
    })
    .run();
}

/** A Conductor that went after a fault that nobody reported, was told so, and did it again. */
export function mendedRun(): RunSnapshot {
  const question = 'Add a `dumps` function that writes TOML.';
  const text = 'model_id = [0, 1]\nsubtasks = ["Find the wrong line and write a short plan.", "Write dumps as the plan says."]\naccess_list = [[], []]';
  return new Script({ question })
    .context()
    .reject(0, 'senseless', 'The plan does not make sense for this question. Step 0 sends its worker after a fault, and the question reports none: it asks for a change.', text)
    .plan(0, {
      text, modelIds: [0, 1],
      subtasks: ['Work out what it takes: "Add a `dumps` function that writes TOML.". Hand on a short plan without code.', 'Write dumps as the plan says.'],
      accessList: [[], [0]],
    }, { ms: 900, mended: { wrong: [{ rule: 'fault', step: 0 }, { rule: 'unseen', step: 1 }], written: 2, reworded: [0], rewired: [1] } })
    .start(0, { kind: 'step', step: 0 }, 'gemini-pro')
    .run();
}

export function failedStepRun(): RunSnapshot {
  return new Script()
    .context()
    .plan(0, PLAN)
    .step(0, 0, 'gemini-pro', FIRST_OUTPUT, { ms: 3_200, usd: 0.0031, output: 192 })
    .start(0, { kind: 'step', step: 1 }, 'claude')
    .fail(0, { kind: 'step', step: 1 }, 'The key ANTHROPIC_API_KEY was refused. Store a valid one.', undefined, 'authentication')
    .say({
      type: 'step.failed', round: 0, step: 1,
      failure: { kind: 'authentication', message: 'The key ANTHROPIC_API_KEY was refused. Store a valid one.', retryable: false },
    })
    .say({ type: 'step.skipped', round: 0, step: 2, reason: 'it reads step 2, which failed.' })
    .say({
      type: 'run.failed',
      failure: {
        kind: 'step-failed', retryable: true,
        message: 'Step 2 failed: the key ANTHROPIC_API_KEY was refused. Store a valid one and retry.',
      },
    })
    .run();
}

/** The first worker was out of credit, another one did its step; the second step failed in two workers' hands and is being done by a third. */
export function handedOnRun(): RunSnapshot {
  const payment = { kind: 'payment', message: 'Worker "gemini-pro": the account at generativelanguage.googleapis.com has no credit left; top it up or use another worker.', retryable: false };
  const overloaded = { kind: 'overloaded', message: 'Worker "claude": api.anthropic.com is overloaded; try again later or use another worker.', retryable: true };
  return new Script()
    .context()
    .plan(0, PLAN)
    .start(0, { kind: 'step', step: 0 }, 'gemini-pro')
    .fail(0, { kind: 'step', step: 0 }, payment.message, undefined, payment.kind)
    .say({ type: 'step.reassigned', round: 0, step: 0, from: 0, to: 2, failure: payment })
    .step(0, 0, 'gpt-5', FIRST_OUTPUT, { ms: 3_200, usd: 0.0031, output: 192 })
    .start(0, { kind: 'step', step: 1 }, 'claude')
    .fail(0, { kind: 'step', step: 1 }, overloaded.message)
    .say({ type: 'step.reassigned', round: 0, step: 1, from: 1, to: 2, failure: overloaded })
    .start(0, { kind: 'step', step: 1 }, 'gpt-5')
    .run();
}

const MENDED: FileChange = {
  path: 'src/merge.ts', line: 10, removed: '    if (last && a < last[1]) last[1] = b;\n', inserted: '    if (last && a <= last[1]) last[1] = Math.max(last[1], b);\n',
};

/** Of three workers with hands, the first mended its own red test, the second was stopped by the person, and the third works and was told something. */
export function handsRun({ isStopping = false } = {}): RunSnapshot {
  const pool = [worker('gemini-pro', { hands: 'tools' }), worker('claude', { hands: 'tools' }), worker('qwen', { hands: 'fenced' })];
  const call = (id: number, name: string, given: object) => ({ id: `call-${id}`, name, arguments: JSON.stringify(given) });
  const wrong: FileChange = { ...MENDED, inserted: '    if (last && a <= last[1]) last[1] = b;\n' };
  const script = new Script({ pool })
    .context()
    .plan(0, { ...PLAN, subtasks: ['Mend `merge()` and run the tests.', 'Try another way: compare ends before starts.', 'Take the better one, and add no test.'], accessList: [[], [], [0, 1]] })
    .turn(0, 0, 'gemini-pro', { text: 'I look at the loop first.', calls: [call(1, 'read', { path: 'src/merge.ts' })] }, { text: 'Result of read src/merge.ts:\nsrc/merge.ts, lines 1 to 3 of 3:\n1\texport function merge(list) {\n2\t  …\n3\t}' })
    .turn(0, 0, 'gemini-pro', {
      text: '', calls: [call(2, 'edit', { path: 'src/merge.ts', search: 'a < last[1]', replace: 'a <= last[1]' })],
    }, { text: 'Result of edit src/merge.ts:\nDone: src/merge.ts is changed.', changes: [wrong] })
    .turn(0, 0, 'gemini-pro', { text: '', calls: [call(3, 'test', {})] }, {
      text: 'Result of test:\n13 tests passed, 1 failed.\nFailed: merge > keeps the outer interval\n  expected [[1, 9]], received [[1, 3]]',
    })
    .turn(0, 0, 'gemini-pro', {
      text: 'The end must not shrink.', calls: [call(4, 'edit', { path: 'src/merge.ts', search: 'last[1] = b', replace: 'last[1] = Math.max(last[1], b)' })],
    }, { text: 'Result of edit src/merge.ts:\nDone: src/merge.ts is changed.', changes: [MENDED] })
    .turn(0, 0, 'gemini-pro', { text: '', calls: [call(5, 'test', {})] }, { text: 'Result of test:\n14 tests passed, 0 failed.' })
    .start(0, { kind: 'step', step: 0 }, 'gemini-pro')
    .complete(0, 0, 'The end of the outer interval shrank; it is the larger of both now.\n\nMy change, as a diff:\n\n```diff\n--- a/src/merge.ts\n+++ b/src/merge.ts\n@@ -10 +10 @@\n-    if (last && a < last[1]) last[1] = b;\n+    if (last && a <= last[1]) last[1] = Math.max(last[1], b);\n```', { ms: 900, usd: 0.001, output: 60 })
    .turn(0, 1, 'claude', { text: 'I try ends first.', calls: [call(6, 'run', { command: 'npx vitest run test/merge.test.ts --reporter=verbose' })] }, {
      text: `Result of run npx vitest run test/merge.test.ts --reporter=verbose:\n${Array.from({ length: 40 }, (_, index) => `✓ merge > case ${index + 1} 1ms`).join('\n')}\nexit code 0`,
    })
    .start(0, { kind: 'step', step: 1 }, 'claude')
    .say({ type: 'step.stopped', round: 0, step: 1 })
    .fail(0, { kind: 'step', step: 1 }, 'The call was cancelled.', undefined, 'cancelled');
  script.say({
    type: 'step.completed', round: 0, step: 1, attemptId: 'attempt-8', output: 'A person stopped this step before it was done. What it had by then:\n\nI try ends first.', finishReason: 'stopped',
    usage: usage(0, 0), cost: { usd: 0, estimated: false }, durationMs: 2_600,
  });
  script
    .start(0, { kind: 'step', step: 2 }, 'qwen')
    .say({ type: 'step.told', round: 0, step: 2, text: 'Keep the signature as it is, please.' })
    .say({ type: 'step.turned', round: 0, step: 2, attemptId: 'attempt-9', text: 'The first way is simpler; I check it.\n\n```run\ngit diff --stat\n```', usage: usage(40), cost: { usd: 0.0004, estimated: false }, durationMs: 900 }, 900)
    .say({ type: 'step.observed', round: 0, step: 2, text: 'Result of run git diff --stat:\n src/merge.ts | 2 +-\nexit code 0', changes: [MENDED] }, 200)
    .start(0, { kind: 'step', step: 2 }, 'qwen')
    .say({ type: 'step.told', round: 0, step: 2, text: 'And look at **touching** intervals, such as `[1, 2]` and `[2, 3]`.' });
  if (isStopping) script.say({ type: 'step.stopped', round: 0, step: 2 });
  return script.stream(0, { kind: 'step', step: 2 }, 'Touching intervals are merged, because the comparison is').run();
}

export function waitingRun(): RunSnapshot {
  return new Script()
    .context()
    .plan(0, PLAN)
    .say({
      type: 'run.waiting', for: 'secret',
      message: 'The run needs the key OPENAI_API_KEY. Store it with "Conductor: Add a worker"; the run then goes on by itself.',
    })
    .run();
}

export function cancelledRun(): RunSnapshot {
  return new Script()
    .context()
    .plan(0, PLAN)
    .step(0, 0, 'gemini-pro', FIRST_OUTPUT, { ms: 3_200, usd: 0.0031, output: 192 })
    .say({ type: 'run.cancelled' })
    .run();
}

/** Five steps that read everything before them: the most edges a plan can have. */
export function denseRun(): RunSnapshot {
  const names = ['gemini-pro', 'claude', 'gpt-5', 'qwen', 'mistral'];
  return new Script({ pool: names.map((name) => worker(name)) })
    .context(PIECES.slice(0, 1))
    .plan(0, {
      text: 'Everybody looks at everything.',
      modelIds: [0, 1, 2, 3, 4],
      subtasks: [
        'Name the invariant.', 'Find a counterexample.', 'Write the fix.', 'Attack the fix.', 'Decide, and return the final code.',
      ],
      accessList: [[], 'all', 'all', 'all', 'all'],
    })
    .step(0, 0, 'gemini-pro', FIRST_OUTPUT, { ms: 3_200, usd: 0.0031 })
    .step(0, 1, 'claude', 'Take `[[1, 9], [2, 3]]`.', { ms: 2_000, usd: 0.002 })
    .start(0, { kind: 'step', step: 2 }, 'gpt-5')
    .run();
}

const FIVE = ['gemini-pro', 'claude', 'gpt-5', 'qwen', 'mistral'];

/** Three plans were sampled for the question: the cheapest failed its tests, the next one is verified, the dearest was not tried. */
export function attemptsRun({ goesOn = false } = {}): RunSnapshot {
  const script = new Script({ attempts: 3 }).context(PIECES.slice(0, 1)).plan(0, PLAN).plan(1, PLAN).plan(2, PLAN);
  for (const round of [2, 0]) {
    script
      .step(round, 0, 'gemini-pro', FIRST_OUTPUT, { ms: 3_200, usd: 0.0031, output: 192 })
      .step(round, 1, 'claude', SECOND_OUTPUT, { ms: 6_000, usd: 0.0098, output: 980 });
    if (goesOn && round === 0) return script.start(round, { kind: 'step', step: 2 }, 'gpt-5').run();
    answered(script.step(round, 2, 'gpt-5', FINAL, { ms: 3_200, usd: 0.0013, output: 268 }), round).verdict(round, round === 0 ? VERIFIED : REGRESSED);
  }
  return script
    .say({ type: 'run.completed', outcome: 'verified', round: 0, message: 'The answer is verified.', verifiedCost: { usd: 0.021, answers: 9 } })
    .run();
}

/** A model on this machine tried first. `verified`: that was enough; otherwise the plan that follows is at work. */
export function localFirstRun({ verified = false, omitted = false } = {}): RunSnapshot {
  const llama = { ...worker('llama'), provider: 'openai-compatible' as const, baseUrl: 'http://127.0.0.1:11434/v1', price: { inputPerMillion: 0, outputPerMillion: 0 } };
  const script = new Script({ localFirst: true, pool: [...POOL, llama] }).context(PIECES.slice(0, 1));
  if (omitted) return script.say({ type: 'try.omitted', because: 'nothing-red' }).plan(0, PLAN).start(0, { kind: 'step', step: 0 }, 'gemini-pro').run();
  const subtask = 'Mend merge() so that the outer interval stays. Find the line that causes it first, then make the smallest change.';
  script
    .say({ type: 'try.begun', round: 0, record: { tried: 12, verified: 5, durationMs: 41_000, saved: { usd: 0.4, runs: 9 } } })
    .say({
      type: 'plan.proposed', round: 0, attemptId: '', text: '', plan: { modelIds: [POOL.length], subtasks: [subtask], accessList: [[]] },
      steps: [{ worker: POOL.length, subtask, reads: [], readsPreviousRound: false }], usage: NO_USAGE, cost: { usd: 0, estimated: false }, durationMs: 0,
    })
    .step(0, 0, 'llama', FINAL, { ms: 22_000, usd: 0, output: 268 });
  answered(script, 0, 0).verdict(0, verified ? VERIFIED : REGRESSED);
  if (verified) return script.say({ type: 'run.completed', outcome: 'verified', round: 0, message: 'The answer is verified.' }).run();
  return script.plan(1, PLAN).step(1, 0, 'gemini-pro', FIRST_OUTPUT, { ms: 3_200, usd: 0.0031, output: 192 }).start(1, { kind: 'step', step: 1 }, 'claude').run();
}

/** Three attempts that are tried at the same time. */
export function attemptsAtOnceRun(): RunSnapshot {
  const script = new Script({ attempts: 3 }).context(PIECES.slice(0, 1)).plan(0, PLAN).plan(1, PLAN).plan(2, PLAN);
  script.step(0, 0, 'gemini-pro', FIRST_OUTPUT, { ms: 3_200, usd: 0.0031, output: 192 }).start(0, { kind: 'step', step: 1 }, 'claude');
  script.step(1, 0, 'gemini-pro', FIRST_OUTPUT, { ms: 3_200, usd: 0.0031 }).step(1, 1, 'claude', SECOND_OUTPUT, { ms: 6_000, usd: 0.0098 });
  answered(script.step(1, 2, 'gpt-5', FINAL, { ms: 3_200, usd: 0.0013 }), 1).verdict(1, REGRESSED);
  return script.start(2, { kind: 'step', step: 0 }, 'gemini-pro').run();
}

/** Three attempts for one step to choose from: the tests were run with two of them, and run with the third. */
export function triedRun(): RunSnapshot {
  const names = FIVE.slice(0, 4);
  return new Script({ pool: names.map((name) => worker(name)) })
    .context(PIECES.slice(0, 1))
    .plan(0, {
      text: 'Three attempts, one choice.', modelIds: [0, 1, 2, 3],
      subtasks: ['Mend `merge()`.', 'Mend it by another way.', 'Mend it in the simplest way.', 'Take the attempt that the tests prefer, and finish it.'],
      accessList: [[], [], [], [0, 1, 2]],
    })
    .step(0, 0, 'gemini-pro', FINAL, { ms: 3_200, usd: 0.0031 })
    .say({ type: 'step.trying', round: 0, step: 0 })
    .step(0, 1, 'claude', FINAL, { ms: 2_000, usd: 0.002 })
    .say({ type: 'step.tried', round: 0, step: 0, text: '12 tests passed, 2 failed.', passed: 12, failed: 2, durationMs: 2_400 })
    .say({ type: 'step.tried', round: 0, step: 1, text: 'The tests were not run with it: its change of src/merge.ts cannot be read: two places fit', passed: 0, failed: 0, problem: 'its change of src/merge.ts cannot be read: two places fit', durationMs: 4 })
    .step(0, 2, 'gpt-5', FINAL, { ms: 2_000, usd: 0.002 })
    .say({ type: 'step.trying', round: 0, step: 2 })
    .run();
}

/** Two rounds of five steps each: two looks at the problem at once, a fix that reads both, an attack on it, a decision. `output` by round and step. */
export function twoRoundsRun(output = (_round: number, step: number): string => (step === 4 ? FINAL : FIRST_OUTPUT)): RunSnapshot {
  const script = new Script({ pool: FIVE.map((name) => worker(name)) }).context();
  for (const [round, text] of ['Two looks, one fix, one attack, one decision.', 'The same again, from what the tests said.'].entries()) {
    script.plan(round, {
      text,
      modelIds: [0, 1, 2, 3, 4],
      subtasks: [
        'Name the invariant that `merge()` should keep, and where it breaks.', 'Find the smallest input for which the result is wrong.',
        'Write the corrected function from both.', 'Attack the fix with touching, nested and empty lists.', 'Decide, and return the whole file.',
      ],
      accessList: [[], [], [0, 1], [2], round === 0 ? [0, 2, 3] : 'all'],
    });
    for (const [step, name] of FIVE.entries()) {
      script.step(round, step, name, output(round, step), { ms: 2_000 + 900 * step, usd: 0.002 * (step + 1), output: 210 + 160 * step });
    }
    answered(script, round, 4).verdict(round, round === 0 ? REGRESSED : VERIFIED);
  }
  return script.say({ type: 'run.completed', outcome: 'verified', round: 1, message: 'The answer is verified.' }).run();
}

/** Of a sample project of Conductor's own. */
export function demonstrationRun(): RunSnapshot {
  const run = simulatedRun();
  return { ...run, request: { ...run.request, workspace: '/home/ada/.conductor/demonstration/project-aB3xYz' } };
}

/** Cancelled while the tests ran. */
export function cancelledCheckRun(): RunSnapshot {
  return answered(threeSteps(new Script()))
    .say({ type: 'verify.started', round: 0, command: 'npm test', runner: 'vitest', sandboxed: true })
    .say({ type: 'run.cancelled' })
    .run();
}

/** The second round made it worse: the first one's answer is offered, and the tests do not confirm it either. */
export function worseRun(): RunSnapshot {
  const worse: Verdict = { ...REGRESSED, score: 0.1, tests: REGRESSED.tests.map((test) => ({ ...test, after: 'failed' })) };
  const script = answered(threeSteps(new Script())).verdict(0, REGRESSED)
    .plan(1, { text: 'Again.', modelIds: [1], subtasks: ['Repair it.'], accessList: ['all'] })
    .step(1, 0, 'claude', FINAL, { ms: 4_100, usd: 0.0072, output: 700 });
  return answered(script, 1, 0).verdict(1, worse)
    .say({ type: 'run.completed', outcome: 'not-verified', round: 0, message: 'The tests do not confirm the answer.' })
    .run();
}

/** Stopped at the limit of its tokens. */
export function tokenLimitRun(): RunSnapshot {
  return new Script()
    .context()
    .plan(0, PLAN)
    .say({ type: 'run.stopped', reason: 'budget', limit: 'runTokens', message: 'The next call could use more than is left of 400,000 tokens.' })
    .run();
}

const stepEstimate = (from: StepEstimate['from'], low: number, high: number): StepEstimate => ({
  from, steps: from === 'limits' ? 0 : 7, usd: { low, high }, tokens: { low: low * 1e6, high: high * 1e6 },
});
export const ESTIMATE: WorkEstimate = {
  usd: { low: 0.0088, high: 0.0312 }, tokens: { low: 8_800, high: 31_200 }, unpriced: [], left: { usd: 0.99, tokens: 399_000 },
  steps: [stepEstimate('kind', 0.0021, 0.0034), stepEstimate('worker', 0.0052, 0.0098), stepEstimate('limits', 0.0015, 0.018)],
};

/** The plan waits for somebody who looks at it. */
export function heldRun(estimate = ESTIMATE): RunSnapshot {
  return new Script().context().plan(0, PLAN).say({ type: 'plan.held', round: 0, estimate }).run();
}

/** The answer breaks nothing, and somebody is to say whether the tests must pass that failed before. */
export function undecidedRun(tests: readonly string[] = redIds(STILL_RED)): RunSnapshot {
  return answered(threeSteps(new Script())).verdict(0, STILL_RED).say({ type: 'verdict.held', round: 0, tests: [...tests] }).run();
}

/** The second round's plan waits, after one that somebody did not want; no price is known, and the tokens may not be enough. */
export function heldAgainRun(): RunSnapshot {
  const steps = ESTIMATE.steps.slice(0, 1).map(({ usd: _usd, ...step }) => step);
  return answered(threeSteps(new Script())).verdict(0, REGRESSED)
    .plan(1, { ...PLAN, modelIds: [1], subtasks: ['Write the whole function anew.'], accessList: [[]] })
    .say({ type: 'plan.held', round: 1, estimate: ESTIMATE })
    .say({ type: 'plan.discarded', round: 1, wish: 'Let gpt-5 look at the failing test first.' })
    .plan(1, { ...PLAN, modelIds: [2], subtasks: ['Say why the nested case still fails, and mend `merge()`.'], accessList: ['all'] })
    .say({ type: 'plan.held', round: 1, estimate: { tokens: { low: 4_000, high: 52_000 }, steps, unpriced: ['gpt-5'], left: { usd: 0.9, tokens: 31_000 } } })
    .run();
}

/** What the page is replied when it asks. */
export const REPLIES: PageReplies = {
  stepPrompt: [{ role: 'user', content: `You are one of several language models that work on a programmer's question together.\n\n<question>\n${QUESTION}\n</question>` }],
  findRuns: [],
  removeRun: true,
  planEstimate: ESTIMATE,
  approvePlan: true,
  replan: true,
  decideFailedBefore: true,
  takeBackLeftOut: true,
};

export function simulatedRun(): RunSnapshot {
  const pool = ['scout', 'smith', 'judge'].map((name) => worker(name, { simulated: true }));
  return answered(
    new Script({ pool, conductor: worker('sim-conductor', { simulated: true }) })
      .context(PIECES.slice(0, 2))
      .plan(0, PLAN)
      .step(0, 0, 'scout', FIRST_OUTPUT, { ms: 300, usd: 0.0003, output: 192 })
      .step(0, 1, 'smith', SECOND_OUTPUT, { ms: 400, usd: 0.0009, output: 980 })
      .step(0, 2, 'judge', FINAL, { ms: 350, usd: 0.0001, output: 268 }),
  )
    .verdict(0, VERIFIED)
    .say({ type: 'run.completed', outcome: 'verified', round: 0, message: 'The answer is verified.' })
    .run();
}

export const HOSTILE = `# <img src=x onerror=alert(1)>
<script>alert(2)</script>
[click me](javascript:alert(3)) [data](data:text/html,<script>alert(4)</script>) ![pixel](https://evil.example/p.png?leak=1)
<a href="https://evil.example" onclick="alert(5)">plain</a> <https://evil.example/auto> \`<b onmouseover=alert(6)>\`

| <svg onload=alert(7)> | b |
|---|---|
| [x](vbscript:msgbox) | <iframe src="//evil.example"></iframe> |

\`\`\`js"><img src=x onerror=alert(8)>
const admin = false; /*\u202E } \u2066if (admin)\u2069 \u2066 begin */
${'x'.repeat(5_000)}
\`\`\`

- nested:
  \`\`\`html
  <script>alert(9)</script>
  \`\`\`

مرحبا بالعالم، هذا نص من اليمين إلى اليسار مع \`code()\` في وسطه.
`;

export function hostileRun(): RunSnapshot {
  const long = `${HOSTILE}\n${'A very long line without an end, '.repeat(3_000)}`;
  return new Script({
    question: `${'unbroken'.repeat(30)} <img src=x onerror=alert(0)> \`<script>\` ماذا يفعل هذا؟`,
    pool: [worker('a-worker-with-a-name-that-is-as-long-as-the-rules-allow-01234567')],
    conductor: worker('conductor', { model: 'org/some-very-long-model-name-with-a-revision-2026-11-20-instruct-awq' }),
  })
    .context([
      {
        path: `src/${'deep/'.repeat(12)}<img src=x>.ts`, startLine: 1, endLine: 9_999,
        reason: '<b>bold</b> reason', tokens: 12_345,
      },
    ], HOSTILE)
    .plan(0, { text: HOSTILE, modelIds: [0, 0], subtasks: [HOSTILE.slice(0, 200), 'Second.'], accessList: [[], [0]] })
    .step(0, 0, 'a', long, { ms: 62_000, output: 120_000 })
    .step(0, 1, 'a', long, { ms: 3_723_000, output: 1_200_000, usd: 12.5 })
    .say({
      type: 'answer.ready', round: 0, step: 1,
      edits: [{
        path: 'src/\u202Egnp.ts', kind: 'create',
        diff: '--- /dev/null\n+++ b/x\n@@ -0,0 +1,3 @@\n'
          + `+<script>alert(1)</script>\n+if (a) { /*\u202E*/ }\n+${'y'.repeat(9_000)}\n`,
      }],
      refused: [{ path: '../../etc/passwd', reason: 'It lies outside of the workspace.' }],
    })
    .verdict(0, {
      ...REGRESSED,
      reason: HOSTILE.slice(0, 120),
      tests: [{ id: `test/${'long-'.repeat(30)}.ts > <script>`, before: 'passed', after: 'failed', message: HOSTILE }],
      sandboxed: false, notes: [],
    })
    .say({ type: 'run.completed', outcome: 'not-verified', round: 0, message: '<script>alert(1)</script>' })
    .run();
}

function summary(id: string, change: Partial<WorkerSummary> = {}): WorkerSummary {
  return { id, model: id, simulated: false, enabled: true, ready: true, ...change };
}

export const POOL_SUMMARY: PoolSummary = {
  conductor: 'conductor-7b',
  choice: { why: 'strongest', estimate: { usd: 0.0009, durationMs: 1_100, plans: 12 } },
  workers: [
    summary('gemini-pro'),
    summary('claude'),
    summary('gpt-5', { ready: false, reason: 'The key OPENAI_API_KEY is missing.' }),
  ],
};

const RUNS: PanelState['runs'] = [
  { runId: 'run-9', kind: 'solve',
    question: 'Make `freeSlots()` fast for calendars with 100,000 entries, without changing its results.',
    state: 'running', acceptedAt: BEGIN - 20_000, updatedAt: BEGIN, usd: 0.0041, unpricedTokens: 0, simulated: false },
  { runId: 'run-8', kind: 'solve', question: QUESTION, state: 'completed', outcome: 'verified',
    acceptedAt: BEGIN - 8 * 60_000, updatedAt: BEGIN, usd: 0.0142, unpricedTokens: 0, simulated: false, thread: 'run-4' },
  { runId: 'run-7', kind: 'solve', question: 'Why is the date off by one in `formatDay`?',
    state: 'completed', outcome: 'not-verified',
    acceptedAt: BEGIN - 3 * 3_600_000, updatedAt: BEGIN, usd: 0.031, unpricedTokens: 5_200, simulated: false },
  { runId: 'run-6', kind: 'solve', question: 'What does this module do?', state: 'completed', outcome: 'answered',
    acceptedAt: BEGIN - 26 * 3_600_000, updatedAt: BEGIN, usd: 0, unpricedTokens: 3_100, simulated: true },
  { runId: 'run-5', kind: 'solve', question: 'Port the parser to the new grammar.', state: 'stopped',
    acceptedAt: BEGIN - 400 * 86_400_000, updatedAt: BEGIN, usd: 1, unpricedTokens: 0, simulated: false },
  { runId: 'run-4', kind: 'solve', question: 'What does `merge()` do with nested intervals?', state: 'completed', outcome: 'answered',
    acceptedAt: BEGIN - 401 * 86_400_000, updatedAt: BEGIN, usd: 0.002, unpricedTokens: 0, simulated: false },
];

type ViewData<Kind extends ShownView['kind']> = Omit<ViewOf<Kind>, 'kind'>;

/** With a run or a training, that one is on show; otherwise the question. */
export type StateChange = Partial<Omit<PanelState, 'view'> & ViewData<'question'> & ViewData<'run'> & ViewData<'training'> & ViewData<'verification'>>;

export function stateWith({ draft, run, elsewhere, applied, undoable, training, tasks, rollout, verification, ...change }: StateChange = {}): PanelState {
  const view: ShownView = verification ? { kind: 'verification', verification }
    : training ? { kind: 'training', training, tasks, rollout }
    : run ? { kind: 'run', run, elsewhere, applied, undoable }
    : { kind: 'question', draft };
  return { view, runs: RUNS, trainings: [], pool: POOL_SUMMARY, models: [], backend: { state: 'connected' }, trusted: true, ...change };
}

export const LOCAL_WORKER = worker('qwen3-1.7b', { provider: 'local', model: 'Qwen/Qwen3-1.7B', baseUrl: undefined });

const NO_DRIVER = 'No NVIDIA driver was found; install driver 580 or newer, or stay on the CPU.';

/** A model of this machine that plays the Conductor. */
export function localModel(change: Partial<PanelModel> = {}): PanelModel {
  return { model: LOCAL_WORKER.model, name: LOCAL_WORKER.model, plans: true, answers: false, state: 'unloaded', ...change };
}

export const LOADED_MODEL = localModel({
  state: 'ready',
  loaded: { device: 'cpu', precision: '8-bit', weightBytes: 2.3e9, contextLength: 40_960, reasons: [NO_DRIVER] },
});

/** A run that a model of this machine planned. */
export function localRun(): RunSnapshot {
  const sampled = { seed: 7, device: 'cpu' } as const;
  return new Script({ conductor: LOCAL_WORKER, usd: 1 }).context(PIECES.slice(0, 1)).plan(0, PLAN, { ms: 6_200, usd: 0, sampled })
    .start(0, { kind: 'step', step: 0 }, 'gemini-pro').run();
}

const LOCAL_POOL: PoolSummary = { conductor: LOCAL_WORKER.id, workers: [summary(LOCAL_WORKER.id), summary('claude')] };

/** Every picture of the page, by name. */
export const SCENES: Readonly<Record<string, () => PanelState>> = {
  'planning': () => stateWith({ run: planningRun() }),
  'tests-before': () => stateWith({ run: baseRun() }),
  'red-before': () => stateWith({ run: baseRun(RED_BASE) }),
  'streaming': () => stateWith({ run: streamingRun() }),
  'verified': () => stateWith({ run: verifiedRun() }),
  'applied': () => stateWith({
    run: verifiedRun(), applied: { runId: 'run-1', state: 'applied', message: 'Applied to src/merge.ts.' },
    undoable: { runId: 'run-1', files: ['src/merge.ts'] },
  }),
  'refused-command': () => stateWith({ run: verifiedRun(), problem: 'Nothing was applied, because files have changed since.' }),
  'pictures': () => stateWith({ run: picturesRun() }),
  'follow-up': () => stateWith({ run: followUpRun() }),
  'follow-up-lost': () => stateWith({ run: followUpRun('lost') }),
  'restricted-run': () => stateWith({ run: verifiedRun(), trusted: false }),
  'demonstration': () => stateWith({ run: demonstrationRun(), elsewhere: true, pool: { conductor: 'conductor-mini', workers: [] } }),
  'cancelled-check': () => stateWith({ run: cancelledCheckRun() }),
  'worse': () => stateWith({ run: worseRun() }),
  'token-limit': () => stateWith({ run: tokenLimitRun() }),
  'second-round': () => stateWith({ run: secondRoundRun() }),
  'not-verified': () => stateWith({ run: notVerifiedRun() }),
  'noted': () => stateWith({ run: notedRun() }),
  'left-out': () => stateWith({ run: leftOutRun() }),
  'many-tests': () => stateWith({ run: manyTestsRun() }),
  'no-sandbox': () => stateWith({ run: noSandboxRun() }),
  'untested': () => stateWith({ run: untestedRun() }),
  'checking': () => stateWith({ run: checkingRun() }),
  'refused': () => stateWith({ run: refusedRun() }),
  'infrastructure': () => stateWith({ run: infrastructureRun() }),
  'unchecked': () => stateWith({ run: uncheckedRun() }),
  'answered': () => stateWith({ run: answeredRun() }),
  'unchanged': () => stateWith({ run: unchangedRun() }),
  'budget': () => stateWith({ run: budgetRun() }),
  'retried': () => stateWith({ run: retriedRun() }),
  'rejected': () => stateWith({ run: rejectedRun() }),
  'mended': () => stateWith({ run: mendedRun() }),
  'failed-step': () => stateWith({ run: failedStepRun() }),
  'handed-on': () => stateWith({ run: handedOnRun() }),
  'verification': () => stateWith({ verification: { id: 1, folder: 'intervals', verdict: VERIFIED, commit: 'f09b2def5a3c1e0d9b8a7f6e5d4c3b2a19080706' } }),
  'verification-running': () => stateWith({ verification: { id: 1, folder: 'intervals' } }),
  'verification-unknown': () => stateWith({ verification: { id: 1, folder: 'intervals', verdict: UNKNOWN_VERDICT } }),
  'verification-no-sandbox': () => stateWith({
    verification: { id: 1, folder: 'intervals', verdict: { ...UNKNOWN_VERDICT, command: 'npm test', reason: 'The sandbox needs bubblewrap, which is not installed. sudo apt-get install bubblewrap', remedy: 'sudo apt-get install bubblewrap' } },
  }),
  'hands': () => stateWith({ run: handsRun() }),
  'hands-stopping': () => stateWith({ run: handsRun({ isStopping: true }) }),
  'local-first': () => stateWith({ run: localFirstRun() }),
  'local-first-verified': () => stateWith({ run: localFirstRun({ verified: true }) }),
  'local-first-omitted': () => stateWith({ run: localFirstRun({ omitted: true }) }),
  'local-first-setting': () => ({ ...stateWith(), localFirst: { on: true, worker: 'llama', record: { tried: 12, verified: 5, durationMs: 41_000, saved: { usd: 0.4, runs: 9 } } } }),
  'attempts': () => stateWith({ run: attemptsRun() }),
  'attempts-going-on': () => stateWith({ run: attemptsRun({ goesOn: true }) }),
  'attempts-at-once': () => stateWith({ run: attemptsAtOnceRun() }),
  'tried': () => stateWith({ run: triedRun() }),
  'waiting': () => stateWith({ run: waitingRun() }),
  'undecided': () => stateWith({ run: undecidedRun() }),
  'left-out-before': () => stateWith({ run: { ...undecidedRun(), leftOut: redIds(STILL_RED) } }),
  'held': () => stateWith({ run: heldRun() }),
  'held-again': () => stateWith({ run: heldAgainRun() }),
  'cancelled': () => stateWith({ run: cancelledRun() }),
  'two-rounds': () => stateWith({ run: twoRoundsRun() }),
  'dense': () => stateWith({ run: denseRun() }),
  'simulated': () => stateWith({ run: simulatedRun() }),
  'hostile': () => stateWith({ run: hostileRun() }),
  'ask': () => stateWith(),
  'ask-preview': () => stateWith({
    draft: {
      question: QUESTION,
      preview: {
        pieces: [...PIECES], leftOut: [{ path: '.env', reason: 'looks like a file of secrets' }],
        tokens: 1_918, text: SENT_TEXT, testCommand: 'npm test', testRunner: 'vitest',
      },
    },
  }),
  'local-loading': () => stateWith({
    pool: LOCAL_POOL, models: [localModel({ state: 'loading', phase: 'quantizing', fraction: 0.42 })],
  }),
  'local-choosing': () => stateWith({
    pool: LOCAL_POOL, models: [localModel({ state: 'loading', phase: 'choosing-device' })],
  }),
  'local-ready': () => stateWith({ pool: LOCAL_POOL, models: [LOADED_MODEL] }),
  'local-problem': () => stateWith({
    pool: LOCAL_POOL,
    models: [localModel({
      problem: 'The model\'s weights take 15.2 GB and this machine has 8.0 GB of memory: choose a smaller model or 4-bit weights.',
    })],
  }),
  'local-run': () => stateWith({ run: localRun(), models: [LOADED_MODEL] }),
  'ask-trainings': () => stateWith({ runs: RUNS.slice(0, 2), trainings: TRAININGS }),
  'ask-learning': () => stateWith({ runs: RUNS.slice(0, 2), trainings: [trainingSummaryOf(learnedTraining('not-known')), ...TRAININGS], learning: { verified: 24, other: 30 } }),
  'training-learning': () => stateWith({ training: learningTraining({ step: 23, progress: undefined }) }),
  'training-learned': () => stateWith({ training: learnedTraining() }),
  'training-learned-unknown': () => stateWith({ training: learnedTraining('not-known') }),
  'training-preparing': () => stateWith({ training: preparingTraining() }),
  'training-running': () => stateWith({ training: runningTraining() }),
  'training-team': () => stateWith({ training: teamTraining() }),
  'training-details': () => stateWith({ training: runningTraining(), tasks: TASK_NOTES, rollout: WHOLE_ROLLOUT }),
  'training-waiting': () => stateWith({ training: waitingTraining() }),
  'training-paused': () => stateWith({ training: overBudgetTraining() }),
  'training-failed': () => stateWith({ training: failedTraining() }),
  'training-completed': () => stateWith({ training: completedTraining() }),
  'training-flat': () => stateWith({ training: flatTraining() }),
  'training-flat-completed': () => stateWith({ training: flatCompletedTraining() }),
  'training-adopted': () => stateWith({ training: adoptedTraining() }),
  'no-workers': () => stateWith({ pool: { workers: [] }, runs: [] }),
  'no-workers-asked': () => stateWith({ pool: { conductor: 'conductor-mini', workers: [] }, runs: [], draft: { question: QUESTION } }),
  'no-conductor': () => stateWith({ pool: { workers: POOL_SUMMARY.workers } }),
  'unavailable': () => stateWith({
    pool: undefined, runs: [],
    backend: {
      state: 'unavailable',
      message: 'The backend needs Node 22.13 or later and found 20.20. Name another Node in the setting "conductor.node".',
    },
  }),
  'restricted': () => stateWith({ trusted: false }),
};
