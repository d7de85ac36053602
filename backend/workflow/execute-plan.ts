import type { Step } from './plan.ts';

/** An earlier step's output, as a step that may read it gets it. */
export interface ReadableOutput {
  readonly step: Step;
  readonly output: string;
  /** What the project's tests say of its change, where they were run. */
  readonly tests?: string | undefined;
}

export interface Execution {
  readonly steps: readonly Step[];
  /** Outputs of steps that an earlier execution of the same plan finished; they are not run again. */
  readonly finished: ReadonlyMap<number, string>;
  /** Runs one step. Rejects when the step failed for good. */
  readonly runStep: (step: Step, inputs: readonly ReadableOutput[], signal: AbortSignal) => Promise<string>;
  /** Called for each step that will not run, with the step that failed and its error. */
  readonly onSkipped: (step: Step, because: Step, error: unknown) => void;
  readonly signal: AbortSignal;
}

/** The last step's output, or the failure that prevents it. */
export type ExecutionResult =
  | { readonly ok: true; readonly answer: string }
  | { readonly ok: false; readonly failedStep: Step; readonly error: unknown };

/**
 * Executes a plan. A step starts as soon as all outputs that it may read exist. When a step fails, the steps that read it are skipped.
 * Once the last step cannot run any more, no further step starts; running steps may finish, because they are paid for and a later
 * execution of the same plan can use them.
 * @throws the signal's reason, after all running steps have ended.
 */
export async function executePlan({ steps, finished, runStep, onSkipped, signal }: Execution): Promise<ExecutionResult> {
  signal.throwIfAborted();
  const last = steps.at(-1);
  if (!last) throw new RangeError('A plan has at least one step.');

  const outputs = new Map(finished);
  const waiting = new Set(steps.filter((step) => !outputs.has(step.index)));
  const lost = new Map<number, { step: Step; error: unknown }>();
  const running = new Map<number, Promise<void>>();

  const inputsOf = (step: Step): ReadableOutput[] =>
    step.reads.map((index) => ({ step: steps[index] as Step, output: outputs.get(index) as string }));

  const start = (step: Step): void => {
    waiting.delete(step);
    const done = runStep(step, inputsOf(step), signal).then(
      (output) => void outputs.set(step.index, output),
      (error: unknown) => void lost.set(step.index, { step, error }),
    );
    running.set(step.index, done.finally(() => running.delete(step.index)));
  };

  /** Skips steps that cannot run or are not needed any more, and the steps that read them. */
  const skip = (): void => {
    for (const step of steps) {
      if (!waiting.has(step)) continue;
      const blame = step.reads.map((index) => lost.get(index)).find(Boolean) ?? lost.get(last.index);
      if (!blame) continue;
      waiting.delete(step);
      lost.set(step.index, blame);
      onSkipped(step, blame.step, blame.error);
    }
  };

  for (;;) {
    if (!signal.aborted) {
      // Twice: a failure can rule out the last step, and without it no waiting step is needed.
      skip();
      skip();
      for (const step of [...waiting]) if (step.reads.every((index) => outputs.has(index))) start(step);
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  signal.throwIfAborted();

  const blame = lost.get(last.index);
  if (blame) return { ok: false, failedStep: blame.step, error: blame.error };
  return { ok: true, answer: outputs.get(last.index) as string };
}
