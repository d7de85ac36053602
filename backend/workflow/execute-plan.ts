import type { Step } from './plan.ts';

/** An earlier step's output, as a step that may read it gets it. */
export interface ReadableOutput {
  readonly step: Step;
  readonly output: string;
}

export interface Execution {
  readonly steps: readonly Step[];
  /** Outputs of steps that an earlier execution of the same plan finished; they are not run again. */
  readonly finished: ReadonlyMap<number, string>;
  /** Runs one step. Rejects when the step failed for good. */
  readonly runStep: (step: Step, inputs: readonly ReadableOutput[], signal: AbortSignal) => Promise<string>;
  /** Told of each step that will not run, with the step that is to blame and what it failed of. */
  readonly onSkipped: (step: Step, because: Step, error: unknown) => void;
  readonly signal: AbortSignal;
}

/** The last step's output, or the failure that keeps it from ever coming. */
export type ExecutionResult =
  | { readonly ok: true; readonly answer: string }
  | { readonly ok: false; readonly failedStep: Step; readonly error: unknown };

/**
 * Executes a plan. A step starts the moment the outputs it may read are there, whatever else is still running. When a step fails, the
 * steps that read it are skipped; once the last step can no longer come, nothing new is started, but what is under way may finish: it
 * is paid for, and a later execution of the same plan can use it.
 * @throws the signal's reason once everything under way has ended.
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

  /** Skips everything that can no longer run, or is no longer worth running; a skipped step takes its readers with it. */
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
      // Twice, because a failure can doom the last step, and a doomed last step every step that still waits.
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
