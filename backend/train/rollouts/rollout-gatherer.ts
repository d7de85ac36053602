import { conductorPrompt } from '../../conductor/conductor-prompt.ts';
import type { PastRound } from '../../conductor/prompt-input.ts';
import type { PromptProfile } from '../../conductor/prompt-profile.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { draw, shuffled } from '../statistics/draws.ts';
import type { Prompt } from '../engines/engine.ts';
import type { Gatherer, GroupPlace, SampledPlan } from '../grpo/gatherer.ts';
import type { RolloutOutcome } from '../grpo/reward.ts';
import type { RolloutRunner } from './rollout-runner.ts';
import type { Task } from '../tasks/task.ts';

export interface RolloutGathererOptions {
  readonly rollouts: Pick<RolloutRunner, 'run' | 'pastRounds'>;
  readonly pool: readonly WorkerConfig[];
  readonly profile: PromptProfile;
  /** How many workers each group can use: one of these numbers, drawn per group (§3.2 of the paper). Absent: all workers, in order. */
  readonly poolSizes?: readonly number[] | undefined;
  readonly seed: number;
  /** The step for which the pools of a place are drawn, where places of several steps have the same one; the place's own by default. */
  readonly drawnFor?: ((step: number) => number) | undefined;
  /** Workers have hands for questions without a project, too, as in the gym. */
  readonly handsWithoutProject?: boolean | undefined;
}

/** Asks for plans that use a pool of workers, and runs them as rollouts. */
export class RolloutGatherer implements Gatherer<Task> {
  readonly #options: RolloutGathererOptions;

  constructor(options: RolloutGathererOptions) {
    this.#options = options;
  }

  prompt(task: Task, at: GroupPlace): Prompt {
    return this.#prompt(task, at, []);
  }

  revisionPrompt(task: Task, at: GroupPlace, plan: Pick<SampledPlan, 'sample' | 'revises'>): Prompt | undefined {
    const past = this.#options.rollouts.pastRounds(at, plan);
    return past.length > 0 ? this.#prompt(task, at, past) : undefined;
  }

  async outcomes(task: Task, plans: readonly SampledPlan[], at: GroupPlace, signal: AbortSignal): Promise<readonly RolloutOutcome[]> {
    return await this.#options.rollouts.run(task, this.poolOf(at), plans, at, signal);
  }

  /** The workers that a group can use, by ordinal. */
  poolOf({ step, place }: GroupPlace): readonly WorkerConfig[] {
    const { pool, poolSizes, seed, drawnFor = (own) => own } = this.#options;
    if (!poolSizes) return pool;
    const size = poolSizes[draw(seed, 'pool size', drawnFor(step), place) % poolSizes.length] as number;
    return shuffled(pool, seed, 'pool', drawnFor(step), place).slice(0, size);
  }

  /**
   * The prompt follows from the task and the pool alone. It holds no records of workers: they change while a training runs, and then a resumed
   * training would sample from other prompts than it began with. What workers are good for is what the training teaches.
   */
  #prompt(task: Task, at: GroupPlace, rounds: readonly PastRound[]): Prompt {
    const { question, context } = task;
    const mayWork = 'base' in task || this.#options.handsWithoutProject === true;
    const pool = this.poolOf(at).map(({ description, hands, agent }) => ({ description, ...(mayWork && (hands ?? agent) && { hasHands: true }) }));
    const known = 'base' in task ? { shown: task.shown, project: { testCommand: task.testCommand } } : {};
    const { messages, prefill } = conductorPrompt({ question, context, ...known, pool, rounds }, this.#options.profile);
    return { messages: messages.map(({ role, content }) => ({ role, content })), prefill };
  }
}
