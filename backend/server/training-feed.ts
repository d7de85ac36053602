import { isDeepStrictEqual } from 'node:util';
import { trainingSummaryOf, type Training, type TrainingEvent, type TrainingSummary } from '../protocol/training.ts';
import type { TrainingManager } from '../train/trainings/training-manager.ts';
import type { FeedOutput } from './run-feed.ts';
import { Subscriptions } from './subscriptions.ts';

/** Sends one client the events of its subscribed trainings, and the summaries of all trainings that change. */
export class TrainingFeed {
  readonly #trainings: Pick<TrainingManager, 'get'>;
  readonly #output: Pick<FeedOutput, 'notify'>;
  readonly #subscriptions = new Subscriptions();
  readonly #listed = new Map<string, TrainingSummary>();
  readonly #listening: readonly (() => void)[];

  constructor(trainings: Pick<TrainingManager, 'get' | 'listen' | 'listenForRemovals'>, output: Pick<FeedOutput, 'notify'>) {
    this.#trainings = trainings;
    this.#output = output;
    this.#listening = [
      trainings.listen((training, event) => this.#notify(training, event)),
      trainings.listenForRemovals((trainingId) => this.#removed(trainingId)),
    ];
  }

  /** Returns a snapshot of the training. Later events are sent after the reply with it, each once. @throws TrainingRefusedError */
  subscribe(trainingId: string, afterReply: (callback: () => void) => void): Training {
    return this.#subscriptions.begin(trainingId, () => this.#trainings.get(trainingId), afterReply);
  }

  unsubscribe(trainingId: string): void {
    this.#subscriptions.end(trainingId);
  }

  close(): void {
    for (const stop of this.#listening) stop();
    this.#subscriptions.clear();
  }

  #removed(trainingId: string): void {
    this.#subscriptions.end(trainingId);
    this.#listed.delete(trainingId);
    this.#output.notify('training/removed', { trainingId });
  }

  #notify(training: Training, event: TrainingEvent | undefined): void {
    const { trainingId } = training;
    if (event) this.#subscriptions.deliver(trainingId, () => this.#output.notify('training/event', event), event.seq);
    const summary = trainingSummaryOf(training);
    const before = this.#listed.get(trainingId);
    // A new `updatedAt` alone is not a change.
    if (before && isDeepStrictEqual({ ...before, updatedAt: summary.updatedAt }, summary)) return;
    this.#listed.set(trainingId, summary);
    this.#output.notify('training/changed', summary);
  }
}
