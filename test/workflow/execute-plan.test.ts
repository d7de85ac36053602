import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { executePlan, type ExecutionResult, type ReadableOutput } from '../../backend/workflow/execute-plan.ts';
import { stepsOf, type Access, type Plan, type Step } from '../../backend/workflow/plan.ts';

/*
 * Semantics under test: a step starts the moment its inputs are there; a failure skips the steps that read it and, once the last step
 * is lost, everything that has not started; what is under way finishes; finished steps are not run again; an abort ends all of it.
 * Steps end only when the test says so, therefore every order of events can be played.
 */

interface Play {
  readonly log: string[];
  readonly inputs: Map<number, readonly ReadableOutput[]>;
  readonly running: Map<number, { complete: () => void; fail: (error: unknown) => void }>;
  readonly result: Promise<ExecutionResult>;
  readonly abort: () => void;
}

const planOf = (accessList: readonly Access[]): Step[] => {
  const plan: Plan = { modelIds: accessList.map(() => 0), subtasks: accessList.map((_, index) => `step ${index}`), accessList };
  return stepsOf(plan);
};

function play(steps: readonly Step[], finished: ReadonlyMap<number, string> = new Map()): Play {
  const controller = new AbortController();
  const log: string[] = [];
  const inputs: Play['inputs'] = new Map();
  const running: Play['running'] = new Map();
  const result = executePlan({
    steps,
    finished,
    signal: controller.signal,
    onSkipped: (step, because) => log.push(`skip ${step.index} because of ${because.index}`),
    runStep: (step, stepInputs, signal) => {
      log.push(`start ${step.index}`);
      inputs.set(step.index, stepInputs);
      return new Promise<string>((resolve, reject) => {
        const end = (): void => void running.delete(step.index);
        running.set(step.index, {
          complete: () => (end(), log.push(`end ${step.index}`), resolve(`output ${step.index}`)),
          fail: (error) => (end(), log.push(`fail ${step.index}`), reject(error)),
        });
        signal.addEventListener('abort', () => (end(), reject(signal.reason)));
      });
    },
  });
  result.catch(() => {});
  return { log, inputs, running, result, abort: () => controller.abort(new Error('cancelled by the test')) };
}

/** Lets everything that can happen without the outside world happen. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

describe('executePlan', () => {
  it('starts a step when its own inputs are there, not when a layer is done', async () => {
    const run = play(planOf([[], [], [0], [2, 1]]));
    await settle();
    expect(run.log).toEqual(['start 0', 'start 1']);
    run.running.get(0)?.complete();
    await settle();
    expect(run.log).toContain('start 2');
    run.running.get(1)?.complete();
    run.running.get(2)?.complete();
    await settle();
    run.running.get(3)?.complete();
    expect(await run.result).toEqual({ ok: true, answer: 'output 3' });
  });

  it('shows a step exactly the outputs that its access list grants', async () => {
    const run = play(planOf([[], [], [], 'all']));
    await settle();
    for (const index of [2, 0, 1]) run.running.get(index)?.complete();
    await settle();
    expect(run.inputs.get(3)?.map(({ step, output }) => [step.index, output])).toEqual([[0, 'output 0'], [1, 'output 1'], [2, 'output 2']]);
    expect(run.inputs.get(1)).toEqual([]);
  });

  it('does not run finished steps again', async () => {
    const run = play(planOf([[], [0], [1]]), new Map([[0, 'from before'], [1, 'from before, too']]));
    await settle();
    expect(run.log).toEqual(['start 2']);
    expect(run.inputs.get(2)?.[0]?.output).toBe('from before, too');
    run.running.get(2)?.complete();
    expect(await run.result).toMatchObject({ ok: true });
  });

  it('skips what reads a failed step and reports the first failure', async () => {
    const run = play(planOf([[], [0], [1]]));
    await settle();
    const error = new Error('no credit');
    run.running.get(0)?.fail(error);
    const result = await run.result;
    expect(result).toMatchObject({ ok: false, error, failedStep: { index: 0 } });
    expect(run.log).toEqual(['start 0', 'fail 0', 'skip 1 because of 0', 'skip 2 because of 0']);
  });

  it('lets what is under way finish, and starts nothing new, once the last step is lost', async () => {
    const run = play(planOf([[], [], [1], [0]]));
    await settle();
    run.running.get(0)?.fail(new Error('gone'));
    await settle();
    expect(run.log).toContain('skip 3 because of 0');
    expect(run.log).toContain('skip 2 because of 0');
    run.running.get(1)?.complete();
    expect(await run.result).toMatchObject({ ok: false, failedStep: { index: 0 } });
    expect(run.log).not.toContain('start 2');
  });

  it('goes on when the failed step is not needed for the answer', async () => {
    const run = play(planOf([[], [], [1]]));
    await settle();
    run.running.get(0)?.fail(new Error('gone'));
    run.running.get(1)?.complete();
    await settle();
    run.running.get(2)?.complete();
    expect(await run.result).toEqual({ ok: true, answer: 'output 2' });
  });

  it('throws the reason of an abort after everything under way has ended, and starts nothing more', async () => {
    const run = play(planOf([[], [], [0]]));
    await settle();
    run.abort();
    await expect(run.result).rejects.toThrow('cancelled by the test');
    expect(run.running.size).toBe(0);
    expect(run.log).toEqual(['start 0', 'start 1']);
  });

  it('starts no step before its inputs and none later than needed, in any order of events', async () => {
    const accessLists = fc.integer({ min: 1, max: 5 }).chain((length) =>
      fc.tuple(...Array.from({ length }, (_, index) =>
        index === 0 ? fc.constant<Access>([]) : fc.oneof(fc.constant<Access>('all'), fc.subarray([...Array(index).keys()])))));
    await fc.assert(
      fc.asyncProperty(accessLists, fc.array(fc.nat(), { minLength: 5, maxLength: 5 }), fc.option(fc.nat({ max: 4 })), async (access, order, failing) => {
        const steps = planOf(access);
        const run = play(steps);
        const done = new Set<number>();
        let failed = false;
        for (const choice of order) {
          await settle();
          const started = new Set(run.log.filter((line) => line.startsWith('start')).map((line) => Number(line.slice(6))));
          for (const step of steps) {
            const ready = step.reads.every((index) => done.has(index));
            if (started.has(step.index)) expect(ready).toBe(true);
            else if (!failed) expect(ready).toBe(false);
          }
          const candidates = [...run.running.keys()];
          const index = candidates[choice % candidates.length];
          if (index === undefined) break;
          if (index === failing) {
            failed = true;
            run.running.get(index)?.fail(new Error('by chance'));
          } else {
            done.add(index);
            run.running.get(index)?.complete();
          }
        }
        await settle();
        for (const [, step] of [...run.running]) step.complete();
        const result = await run.result;
        const ended = run.log.filter((line) => /^(end|fail|skip)/.test(line));
        expect(new Set(ended.map((line) => line.split(' ')[1])).size).toBe(steps.length);
        const lastEnded = run.log.includes(`end ${steps.length - 1}`);
        expect(result.ok).toBe(lastEnded);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('executePlan runs nothing', () => {
  const execute = (steps: readonly Step[], signal: AbortSignal): Promise<ExecutionResult> =>
    executePlan({ steps, finished: new Map(), signal, onSkipped: () => {}, runStep: () => Promise.reject(new Error('a step was run')) });

  it('once its signal has aborted', async () => {
    const reason = new Error('no longer wanted');
    await expect(execute(planOf([[]]), AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('of a plan without steps', async () => {
    await expect(execute([], new AbortController().signal)).rejects.toThrow('A plan has at least one step.');
  });
});
