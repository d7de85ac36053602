import type { TrainEngine } from '../engines/engine.ts';
import { mean } from '../statistics/statistics.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import type { Critic } from './critic.ts';
import { gatherUnpaid, type GatherOptions, type GatherParts } from './gather-step.ts';
import { grpoStep, type GrpoOptions, type StepMetrics } from './grpo-step.ts';

export interface UnpaidOptions extends GrpoOptions, GatherOptions {
  /** The most updates after a step for which nothing is paid. */
  readonly unpaidUpdates: number;
}

export interface UnpaidParts<Task> extends GatherParts<Task> {
  readonly engine: TrainEngine;
  readonly critic: Critic<Task>;
  readonly store: Pick<CheckpointStore, 'betweenName'>;
  /** Called before each update, with its number from 1. */
  readonly onUnpaid?: ((update: number, of: number) => void) | undefined;
}

/** So many verdicts support one more update after each step. Before that, a Conductor would take to what a few outcomes happened to favour. */
const VERDICTS_AN_UPDATE = 8;

/**
 * Updates between two steps for which nothing is paid: plans are sampled with the weights as they are by then, and what outcomes so far say of them stands in for
 * verdicts. So what one verdict teaches is learned in many plans. The idea is Dyna's (R. S. Sutton, "Dyna, an Integrated Architecture for Learning, Planning,
 * and Reacting", 1991). Where outcomes mislead, the next paid plans correct them.
 */
export async function unpaidUpdates<Task>(
  parts: UnpaidParts<Task>, options: UnpaidOptions, { step, learningRate, signal }: { readonly step: number; readonly learningRate: number; readonly signal: AbortSignal },
): Promise<StepMetrics> {
  const { engine, critic, store, onUnpaid } = parts;
  const { judged } = critic;
  const tellsApart = new Set(judged.map(({ isRight }) => isRight)).size > 1;
  const count = tellsApart ? Math.min(options.unpaidUpdates, Math.floor(judged.length / VERDICTS_AN_UPDATE)) : 0;
  const done: StepMetrics[] = [];
  for (let update = 0; update < count; update += 1) {
    signal.throwIfAborted();
    onUnpaid?.(update + 1, count);
    await engine.saveForSampler(store.betweenName(step, update));
    const groups = await gatherUnpaid(parts, options, step * options.unpaidUpdates + update, signal);
    done.push(await grpoStep(engine, groups.map(({ group }) => group), options, { learningRate, signal }));
  }
  return { 'unpaid/updates': count, ...(count > 0 && { 'unpaid/expected_reward': mean(done.map(({ reward = 0 }) => reward)) }) };
}
