import type { Failure } from '../protocol/run-events.ts';
import { addedTests } from '../verify/patch/added-tests.ts';
import { delay } from '../workers/limits/delay.ts';
import type { Checker } from './checker.ts';
import { judgedBy } from './failed-before.ts';
import type { RunFiles } from './run-files.ts';
import type { RunRecorder } from './run-recorder.ts';
import type { JudgingCommand } from './test-command.ts';

/**
 * How long the plan waits for the tests. The plan itself takes a model some seconds, and most suites of a single package end in this
 * time; waiting longer would cost more time than the knowledge saves.
 */
export const BASE_WAIT_MS = 5_000;

export interface BaseRunOptions {
  readonly recorder: RunRecorder;
  readonly checker: Pick<Checker, 'testBase' | 'sandboxAvailability'>;
  readonly files: RunFiles;
  /** The failure to report for an error. */
  readonly failureOf: (error: unknown) => Failure;
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * The run of the tests on the code as it is, with the change of an earlier answer where the run begins with one. It begins with the question
 * and goes on beside plans and steps; the verdict uses its results (decisions/0017). It never runs without a sandbox, because nobody is asked for consent before there is an answer to judge.
 */
export class BaseRun {
  readonly #options: BaseRunOptions;
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(options: BaseRunOptions) {
    this.#options = options;
  }

  /** Begins it, unless its results are known or the tests cannot run in a sandbox here. */
  async begin(workspace: string, test: JudgingCommand): Promise<void> {
    const { recorder, checker: { testBase, sandboxAvailability } } = this.#options;
    if (!testBase || recorder.snapshot.base?.result || this.#ended) return;
    if (!(await sandboxAvailability(test.image)).available) return;
    const signal = AbortSignal.any([this.#options.signal, this.#stop.signal]);
    const { files } = this.#options;
    const begins = await files.begins(workspace);
    const tests = await addedTests(begins);
    const baseEdits = begins.filter((edit) => !tests.has(edit));
    if (signal.aborted) return;
    recorder.record([{ type: 'base.started', command: test.command, runner: test.runner }]);
    this.#ended = testBase({ ...test, ...files.base(workspace), ...(baseEdits.length > 0 && { baseEdits }), ...judgedBy(recorder.snapshot), sandboxed: true, signal })
      .catch((error: unknown) => {
        signal.throwIfAborted();
        return { total: 0, failed: 0, flaky: 0, failing: [], problem: this.#options.failureOf(error).message, durationMs: 0 };
      })
      .then((result) => {
        if (!signal.aborted) recorder.record([{ type: 'base.completed', ...result }]);
      })
      // The run is over or being cancelled, or its journal cannot be written, which whoever works on the run meets, too.
      .catch(() => {});
  }

  /** Resolves when the results are known, or have taken too long, or never come. @throws the signal's reason */
  async known(): Promise<void> {
    const { signal, waitMs = BASE_WAIT_MS } = this.#options;
    if (!this.#ended) return;
    const enough = new AbortController();
    const waited = delay(waitMs, AbortSignal.any([signal, enough.signal])).catch(() => {});
    await Promise.race([this.#ended, waited]).finally(() => enough.abort());
    signal.throwIfAborted();
  }

  /** Ends it. Resolves when nothing of it runs any more, so that nothing is recorded after the run's end. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('The run is over.'));
    await this.#ended;
  }
}
