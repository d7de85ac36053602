import { expect, it } from 'vitest';
import { PROMPT_PROFILES } from '../../backend/conductor/prompt-profile.ts';
import { RolloutGatherer } from '../../backend/train/rollouts/rollout-gatherer.ts';
import type { RolloutOutcome } from '../../backend/train/grpo/reward.ts';
import type { Task } from '../../backend/train/tasks/task.ts';

const TASK: Task = { id: 'task', question: 'What is right?', context: '', grader: { grade: () => Promise.reject(new Error('not asked')) } };
const AT = { step: 0, place: 0 };

/** Groups whose rollouts end as `run` does; the project has changed from the look at it with this number on. */
function gather(run: () => Promise<readonly RolloutOutcome[]>, { changedAt = Infinity, signal = new AbortController().signal } = {}) {
  let looks = 0;
  let runs = 0;
  const gatherer = new RolloutGatherer({
    rollouts: {
      run: () => {
        runs += 1;
        return run();
      },
      pastRound: () => undefined,
    },
    checkTasks: async () => {
      looks += 1;
      if (looks >= changedAt) throw new Error('src/sum.ts has changed.');
    },
    pool: [], profile: PROMPT_PROFILES.standard, seed: 0,
  });
  return { outcomes: gatherer.outcomes(TASK, [], AT, signal), runs: () => runs };
}

it('no worker is paid for a task that has changed', async () => {
  const { outcomes, runs } = gather(async () => [], { changedAt: 1 });
  await expect(outcomes).rejects.toThrow('src/sum.ts has changed.');
  expect(runs()).toBe(0);
});

it('a rollout that fails because its task was changed meanwhile says so; any other says what it is', async () => {
  const fail = (): Promise<never> => Promise.reject(new Error('Line 3 is another.'));
  await expect(gather(fail, { changedAt: 2 }).outcomes).rejects.toThrow('src/sum.ts has changed.');
  await expect(gather(fail).outcomes).rejects.toThrow('Line 3 is another.');
  const stopped = new AbortController();
  const stop = (): Promise<never> => {
    stopped.abort();
    return Promise.reject(new Error('Paused.'));
  };
  await expect(gather(stop, { changedAt: 2, signal: stopped.signal }).outcomes).rejects.toThrow('Paused.');
});
