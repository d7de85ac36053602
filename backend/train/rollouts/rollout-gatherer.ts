import { conductorPrompt } from '../../conductor/conductor-prompt.ts';
import type { PastRound } from '../../conductor/prompt-input.ts';
import type { PromptProfile } from '../../conductor/prompt-profile.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { draw, shuffled } from '../statistics/draws.ts';
import type { Prompt } from '../engines/engine.ts';
import type { Gatherer, GroupPlace, SampledPlan } from '../grpo/grpo-trainer.ts';
import type { RolloutOutcome } from '../grpo/reward.ts';
import type { RolloutRunner } from './rollout-runner.ts';
import type { Task } from '../tasks/task.ts';

export interface RolloutGathererOptions {
  readonly rollouts: Pick<RolloutRunner, 'run' | 'pastRound'>;
  readonly pool: readonly WorkerConfig[];
  readonly profile: PromptProfile;
  /** So many workers are on offer for a group, one of these numbers, drawn anew for each (the paper's §3.2); absent: all, in their order. */
  readonly poolSizes?: readonly number[] | undefined;
  readonly seed: number;
  /** Throws where the tasks are not what they were, before a worker is paid for a group of one. */
  readonly checkTasks?: (() => Promise<void>) | undefined;
}

/** Plans for tasks with a pool of workers, run by rollouts. */
export class RolloutGatherer implements Gatherer<Task> {
  readonly #options: RolloutGathererOptions;

  constructor(options: RolloutGathererOptions) {
    this.#options = options;
  }

  prompt(task: Task, at: GroupPlace): Prompt {
    return this.#prompt(task, at, []);
  }

  revisionPrompt(task: Task, at: GroupPlace, sample: number): Prompt | undefined {
    const past = this.#options.rollouts.pastRound(at, sample);
    return past && this.#prompt(task, at, [past]);
  }

  async outcomes(task: Task, plans: readonly SampledPlan[], at: GroupPlace, signal: AbortSignal): Promise<readonly RolloutOutcome[]> {
    const { rollouts, checkTasks } = this.#options;
    await checkTasks?.();
    try {
      return await rollouts.run(task, this.poolOf(at), plans, at, signal);
    } catch (error) {
      // It may have failed because a task was changed meanwhile, which says more.
      if (!signal.aborted) await checkTasks?.();
      throw error;
    }
  }

  /** The workers on offer for a group, in the order of their ordinals. */
  poolOf({ step, place }: GroupPlace): readonly WorkerConfig[] {
    const { pool, poolSizes, seed } = this.#options;
    if (!poolSizes) return pool;
    const size = poolSizes[draw(seed, 'pool size', step, place) % poolSizes.length] as number;
    return shuffled(pool, seed, 'pool', step, place).slice(0, size);
  }

  #prompt({ question, context }: Task, at: GroupPlace, rounds: readonly PastRound[]): Prompt {
    const pool = this.poolOf(at).map(({ description }) => ({ description }));
    const { messages, prefill } = conductorPrompt({ question, context, pool, rounds }, this.#options.profile);
    return { messages: messages.map(({ role, content }) => ({ role, content })), prefill };
  }
}
