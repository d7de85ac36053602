import type { SharedModel } from '../engines/engine-start.ts';
import type { TrainEngine } from '../engines/engine.ts';
import { RemoteError } from '../engines/remote/remote-error.ts';
import type { CheckpointStore, TrainingCheckpoint } from '../grpo/checkpoint-store.ts';
import { gatherStep, type GatherParts } from '../grpo/gather-step.ts';
import type { GrpoTrainerOptions } from '../grpo/grpo-trainer.ts';
import { judgedStep, type StepMetrics } from '../grpo/grpo-step.ts';
import { givenGroup, judgedGroup } from './given-group.ts';
import type { KeptSamples } from './kept-samples.ts';
import type { Outbox } from './outbox.ts';
import type { TeamLink } from './team-link.ts';
import type { GivenGroup, Share, TeamState } from './team-messages.ts';
import { TeamWatch } from './team-watch.ts';

export interface ContributeParts<Task> extends GatherParts<Task> {
  readonly engine: TrainEngine;
  readonly shared: Pick<SharedModel, 'latest' | 'sampleFrom'>;
  readonly link: Pick<TeamLink, 'state' | 'give' | 'leave'>;
  readonly outbox: Outbox;
  readonly samplesOf: (share: Share) => KeptSamples;
  readonly store: CheckpointStore;
  /** This machine's training. */
  readonly instance: string;
  /** How many versions old plans may be. */
  readonly oldest: number;
  /** Called with what a step's own plans say, when it is over. */
  readonly onStep?: ((step: number, metrics: StepMetrics) => void) | undefined;
  readonly now: () => number;
}

/** A share that no batch would have any more is not paid for to its end. */
class TooLate extends Error {}

/**
 * A member's part of a training: samples plans from each version that the coordinator names, has them carried out and judged here, and hands them in, until the
 * coordinator says that it is over. Where plans may be older, it goes on with those for the steps after the one under way. What this machine has judged is handed
 * in again wherever the coordinator does not have it.
 * @throws TeamError, the signal's reason, and what the engine and the gatherer throw
 */
export async function contribute<Task>(
  parts: ContributeParts<Task>, options: GrpoTrainerOptions, { from, signal }: { readonly from: TrainingCheckpoint | undefined; readonly signal: AbortSignal },
): Promise<{ readonly step: number; readonly hasLearned: boolean }> {
  const { engine, shared, link, outbox, store, gatherer, critic, oldest, onStep } = parts;
  const metrics = [...(from?.metrics ?? [])];
  const ended = new AbortController();
  const watch = new TeamWatch(link, AbortSignal.any([signal, ended.signal]));

  const catchUp = async ({ step }: TeamState): Promise<void> => {
    if (step <= metrics.length) return;
    while (metrics.length < step) {
      const groups = await outbox.of(metrics.length);
      metrics.push(groups ? { ...judgedStep(groups.map(judgedGroup), options).metrics, ...gatherer.metrics?.(metrics.length) } : {});
    }
    await store.save(step, { metrics, judged: critic?.judged }, (folder) => engine.saveState(folder));
    await outbox.forgetBefore(step - oldest);
    onStep?.(step, metrics.at(-1) as StepMetrics);
  };
  const handIn = async (groups: readonly GivenGroup[], held: TeamState['held'] = []): Promise<void> => {
    for (const group of groups) if (!held.some(({ step, place }) => step === group.step && place === group.place)) await link.give(group, signal);
  };
  let last = await outbox.last();
  /** What to work on next, if there is something that would count. */
  const nextShare = (state: TeamState): Share | undefined => {
    const next = { step: Math.max(last + 1, state.step), version: state.step };
    return next.step < options.steps && canCount(state, next, oldest) ? next : undefined;
  };
  try {
    for (let known: string | undefined; ;) {
      const state = await watch.until((seen) => seen.revision !== known || nextShare(seen) !== undefined, signal);
      if (state.revision !== known) {
        known = state.revision;
        shared.sampleFrom(state.sampler, state.weights);
        await catchUp(state);
        if (state.over) return { step: state.step, hasLearned: state.over.hasLearned };
        for (let step = Math.max(0, state.step - oldest); step <= state.step + oldest; step += 1) {
          await handIn((await outbox.of(step) ?? []).filter((group) => canCount(state, group, oldest)), state.held);
        }
      }
      const next = nextShare(state);
      if (next) {
        await handIn(await judge(parts, options, { share: next, watch, signal }));
        watch.worksOn(undefined);
        last = next.step;
      }
    }
  } finally {
    ended.abort(new Error('The training has ended.'));
    await watch.done;
    await link.leave();
  }
}

/** Samples, carries out and judges this machine's groups for a step; none where they come too late. */
async function judge<Task>(
  parts: ContributeParts<Task>, options: GrpoTrainerOptions, { share, watch, signal }: { readonly share: Share; readonly watch: TeamWatch; readonly signal: AbortSignal },
): Promise<readonly GivenGroup[]> {
  const { outbox, samplesOf, critic, instance, oldest, now } = parts;
  const began = now();
  const stop = new AbortController();
  const done = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  watch.until((state) => !canCount(state, share, oldest), AbortSignal.any([either, done.signal])).then(() => stop.abort(new TooLate()), (error: unknown) => stop.abort(error));
  watch.worksOn(share);
  const samples = samplesOf(share);
  try {
    const groups = await whileVersionsMove({ ...parts, watch, version: share.version }, either, () =>
      gatherStep({ ...parts, engine: samples }, { ...options, temperature: options.loss.temperature }, share.step, either));
    const seconds = (now() - began) / 1_000;
    const given = groups.map(({ group }, place) => givenGroup(group, { instance, ...share, place, of: groups.length, seconds }));
    await outbox.keep(given);
    critic?.learn(groups);
    await samples.forget();
    return given;
  } catch (error) {
    if (!(error instanceof TooLate || stop.signal.reason instanceof TooLate) || signal.aborted) throw error;
    await samples.forget();
    return [];
  } finally {
    done.abort(new Error('The plans are judged.'));
  }
}

/** How long a member waits until the training server has a version again. */
const MOST_MISSING_MS = 15 * 60_000;

/**
 * A training server that was started again has no version any more that it can sample from, until the coordinator's model is made anew. What was sampled and judged
 * before stays.
 * @throws TooLate where the model has moved on meanwhile, what `gather` throws, the signal's reason
 */
async function whileVersionsMove<T>(
  { shared, watch, version: at }: { readonly shared: ContributeParts<unknown>['shared']; readonly watch: TeamWatch; readonly version: number }, signal: AbortSignal, gather: () => Promise<T>,
): Promise<T> {
  for (;;) {
    const version = shared.latest;
    try {
      return await gather();
    } catch (error) {
      if (signal.aborted || version === undefined || !(error instanceof RemoteError) || error.kind !== 'gone') throw error;
      watch.misses(version);
      const late = AbortSignal.timeout(MOST_MISSING_MS);
      const state = await watch.until((seen) => seen.step !== at || seen.sampler !== version, AbortSignal.any([signal, late]))
        .catch((reason: unknown) => { throw late.aborted ? error : reason; })
        .finally(() => watch.misses(undefined));
      if (state.step !== at) throw new TooLate();
      shared.sampleFrom(state.sampler, state.weights);
    }
  }
}

/** Whether groups would still go into a batch. */
const canCount = ({ step, isOpen, over }: TeamState, share: Share, oldest: number): boolean =>
  !over && Math.max(share.step, isOpen ? step : step + 1) - share.version <= oldest;
