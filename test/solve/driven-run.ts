import path from 'node:path';
import { onTestFinished } from 'vitest';
import { JournalUnavailableError } from '../../backend/journal/errors.ts';
import { Journal } from '../../backend/journal/journal.ts';
import type { Asks, RunKind, StoredEvent } from '../../backend/protocol/run-events.ts';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { budgetSchema, workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { failureOf } from '../../backend/solve/failure.ts';
import { RunDriver, type RunDriverOptions } from '../../backend/solve/run-driver.ts';
import { RunLedger } from '../../backend/solve/run-ledger.ts';
import { RunRecorder, type Append } from '../../backend/solve/run-recorder.ts';
import { isFree } from '../../backend/workers/limits/is-free.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/* One run with a real journal and a real driver. Its models are a script: the n-th call gets the n-th reply. */

export const ONE_STEP = 'model_id = [0]\nsubtasks = ["Answer."]\naccess_list = [["all"]]';
export const ANSWER = 'Here:\n```js src/a.js\nexport const a = 2;\n```';

const usage = { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, estimated: false };
export const worker = workerConfigSchema.parse({ id: 'w', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' });

/** Judges nothing: no answer changes a file. */
export const NO_TESTS: Checker = {
  findTestCommands: async () => [],
  runnerOf: async () => 'node-test',
  sandboxAvailability: async () => ({ available: true }),
  parsePatch: async () => ({ edits: [], refused: [] }),
  verify: () => Promise.reject(new Error('nothing to verify')),
};

export interface DrivenRun {
  /** The texts of the messages of each call, in order. */
  readonly asked: string[][];
  events(): StoredEvent[];
  /** Drives the run to its end as a process would that finds its journal. `failAfter`: the journal cannot be written after so many events. `onEvent` is told each. */
  drive(options: Partial<RunDriverOptions> & { readonly failAfter?: number; readonly onEvent?: (stored: StoredEvent, recorder: RunRecorder) => void }): Promise<RunSnapshot>;
}

/** @param replies one for each call; a function is called when the call is made */
export async function drivenRun(
  replies: readonly (string | ((signal: AbortSignal, messages: readonly string[]) => string | Promise<string>))[], { kind = 'solve', pool = [worker], planner = worker, asks, leftOut, ...request }: Partial<RunRequestInput> & { kind?: RunKind; pool?: WorkerConfig[]; planner?: WorkerConfig; asks?: Asks; leftOut?: string[] } = {},
): Promise<DrivenRun> {
  const journal = Journal.open(path.join(await temporaryFolder(), 'journal.sqlite'));
  onTestFinished(() => journal.close());
  journal.accept('r', {
    type: 'run.accepted', kind, request: runRequestSchema.parse({ question: 'The constant a is wrong, please mend it.', rounds: 1, ...request }), pool, ...(asks && { asks }), ...(leftOut && { leftOut }),
    policy: { kind: 'endpoint', worker: planner, model: 'm', promptVersion: '1' }, budget: budgetSchema.parse({}),
  });
  const asked: string[][] = [];
  return {
    asked,
    events: () => journal.read('r'),
    drive: async ({ failAfter = Infinity, onEvent = () => {}, ...options }) => {
      const append: Append = (events, effects) => {
        if (journal.read('r').length + events.length > failAfter) throw new JournalUnavailableError('journal.sqlite', { reason: 'it is gone.' });
        return journal.append('r', events, effects);
      };
      const recorder: RunRecorder = new RunRecorder(snapshotOf(journal.read('r')), { append }, { onEvent: (stored) => onEvent(stored, recorder), onText: () => {} });
      await new RunDriver({
        recorder,
        call: async (called, { messages }, { attempts, ledger, signal }) => {
          const next = replies[asked.length];
          asked.push(messages.map(({ content }) => content));
          const usd = isFree(called) ? 0 : 0.01;
          const reserved = { usd, tokens: 2 };
          const attempt = { attemptId: `a${asked.length}-${journal.read('r').length}`, worker: called.id, number: 1, reserved };
          const reservation = attempts.started(attempt, () => ledger.reserve({ ...reserved, isFree: isFree(called) }));
          const text = typeof next === 'function' ? await next(signal, messages.map(({ content }) => content)) : next;
          if (text === undefined) throw new Error('The script has no more replies.');
          const reply = { text, finishReason: 'stop' as const, usage, model: 'm' };
          attempts.succeeded({ ...attempt, reservation }, reply, { usage, cost: { usd, estimated: false }, durationMs: 1 });
          return reply;
        },
        failureOf,
        checker: NO_TESTS,
        ledger: new RunLedger({ run: recorder.snapshot, budget: journal.budget, now: Date.now }),
        gatherContext: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
        confirmUnsandboxed: async () => false,
        signal: new AbortController().signal,
        ...options,
      }).drive();
      return recorder.snapshot;
    },
  };
}
