import { describe, expect, it } from 'vitest';
import { applyTrainingEvent, MAX_TOLD_ROLLOUTS } from '../../backend/protocol/training-facts.ts';
import {
  trainingConfigSchema, trainingSchema, type Rollout, type Training, type TrainingChange, type TrainingEvent,
} from '../../backend/protocol/training.ts';
import { TrainingRefusedError } from '../../backend/train/trainings/training-error.ts';
import type { RemovalListener, TrainingListener } from '../../backend/train/trainings/training-registry.ts';
import { NO_TRAININGS } from './support/no-trainings.ts';
import { serve } from './support/serving.ts';

const START: Training = trainingSchema.parse({
  trainingId: 't', workspace: '/app', conductor: 'tiny', model: 'tiny', config: trainingConfigSchema.parse({}), state: 'training', message: 'Training.',
  startedAt: 1, updatedAt: 1, tasks: { train: 4, heldOut: 2 }, step: 0, metrics: [], spentUsd: 0, spentTokens: 0, unpricedTokens: 0, adopted: false, simulated: false,
});

/** A training that the test changes by hand. */
class OneTraining {
  training = START;
  readonly #listeners = new Set<TrainingListener>();
  readonly #removalListeners = new Set<RemovalListener>();

  readonly service = {
    ...NO_TRAININGS,
    list: () => [this.training],
    get: (trainingId: string): Training => {
      if (trainingId !== 't') throw new TrainingRefusedError(`There is no training "${trainingId}".`);
      return this.training;
    },
    listen: (listener: TrainingListener) => {
      this.#listeners.add(listener);
      return () => void this.#listeners.delete(listener);
    },
    listenForRemovals: (listener: RemovalListener) => {
      this.#removalListeners.add(listener);
      return () => void this.#removalListeners.delete(listener);
    },
    remove: async () => {
      for (const listener of this.#removalListeners) listener('t');
    },
  };

  change(change: TrainingChange): void {
    const event: TrainingEvent = { trainingId: 't', seq: this.training.seq + 1, at: this.training.seq + 2, change };
    this.training = applyTrainingEvent(this.training, event);
    for (const listener of this.#listeners) listener(this.training, event);
  }
}

const rollout = (runId: string, change: Partial<Rollout> = {}): Rollout =>
  ({ runId, place: 0, sample: 0, revises: false, question: 'Why?', steps: [], outcome: 'running', ...change });

describe('training/subscribe', () => {
  it('brings the whole once, then what changes, and only to who follows it', async () => {
    const one = new OneTraining();
    await using serving = { ...await serve({ trainings: one.service }), [Symbol.asyncDispose]: () => serving.close() };
    const [follower, other] = [await serving.open(), await serving.open()];
    const heard: TrainingEvent[] = [];
    const foreign: TrainingEvent[] = [];
    follower.on('training/event', (event) => void heard.push(event));
    other.on('training/event', (event) => void foreign.push(event));
    one.change({ step: 1, metrics: { after: 0, told: [{ reward: 0.1 }] } });
    const whole = await follower.request('training/subscribe', { trainingId: 't' });
    one.change({ step: 2, metrics: { after: 1, told: [{ reward: 0.2 }] }, progress: null });
    await Promise.all([follower, other].map((client) => client.request('backend/health', {})));
    expect([heard.map(({ seq }) => seq), foreign]).toEqual([[2], []]);
    expect(heard.reduce(applyTrainingEvent, whole)).toEqual(one.training);
    await follower.request('training/unsubscribe', { trainingId: 't' });
    one.change({ step: 3 });
    await follower.request('backend/health', {});
    expect(heard).toHaveLength(1);
    await expect(follower.request('training/subscribe', { trainingId: 'gone' })).rejects.toThrow('There is no training "gone".');
  });

  it('tells everybody what a list shows, without curves and only where that has changed', async () => {
    const one = new OneTraining();
    await using serving = { ...await serve({ trainings: one.service }), [Symbol.asyncDispose]: () => serving.close() };
    const client = await serving.open();
    const told: object[] = [];
    client.on('training/changed', (summary) => void told.push(summary));
    one.change({ step: 1, metrics: { after: 0, told: [{ reward: 0.1 }] } });
    one.change({ progress: { done: 1, of: 4 } });
    one.change({ state: 'paused', message: 'Paused.' });
    await client.request('backend/health', {});
    expect(told).toMatchObject([{ step: 1, state: 'training', steps: 50, maxUsd: 10 }, { step: 1, state: 'paused' }]);
    expect(told.some((summary) => 'metrics' in summary || 'config' in summary)).toBe(false);
  });
});

describe('the changes of a training', () => {
  const folded = (...changes: TrainingChange[]): Training =>
    changes.reduce((training, change) => applyTrainingEvent(training, { trainingId: 't', seq: training.seq + 1, at: 2, change }), START);

  it('replace what they name, add figures behind those they follow, and end a count', () => {
    const training = folded(
      { metrics: { after: 0, told: [{ reward: 1 }, { reward: 2 }] }, progress: { done: 1, of: 2 } },
      { metrics: { after: 1, told: [{ reward: 3 }] }, progress: null, step: 2 },
    );
    expect(training).toMatchObject({ seq: 2, step: 2, updatedAt: 2, metrics: [{ reward: 1 }, { reward: 3 }] });
    expect(training.progress).toBeUndefined();
  });

  it('that are known already change nothing', () => {
    const training = folded({ step: 1 });
    expect(applyTrainingEvent(training, { trainingId: 't', seq: 1, at: 9, change: { step: 5 } })).toBe(training);
  });

  it('keep the rollouts of one step, each as it was last told of, and no more than fit', () => {
    const training = folded(
      { rollouts: { step: 1, list: [rollout('a')] } },
      { rollouts: { step: 2, list: [rollout('b'), rollout('c')] } },
      { rollouts: { step: 2, list: [rollout('b', { outcome: 'verified', reward: 1 })] } },
    );
    expect(training.rollouts).toMatchObject({ step: 2, list: [{ runId: 'b', outcome: 'verified', reward: 1 }, { runId: 'c', outcome: 'running' }] });
    const many = Array.from({ length: MAX_TOLD_ROLLOUTS + 5 }, (_, index) => rollout(String(index)));
    expect(folded({ rollouts: { step: 1, list: many } }).rollouts?.list).toHaveLength(MAX_TOLD_ROLLOUTS);
  });
});

describe('training/remove', () => {
  it('is told to every client', async () => {
    const one = new OneTraining();
    await using serving = { ...await serve({ trainings: one.service }), [Symbol.asyncDispose]: () => serving.close() };
    const [asking, other] = [await serving.open(), await serving.open()];
    const heard: string[] = [];
    for (const client of [asking, other]) client.on('training/removed', ({ trainingId }) => void heard.push(trainingId));
    await asking.request('training/remove', { trainingId: 't' });
    await Promise.all([asking, other].map((client) => client.request('backend/health', {})));
    expect(heard).toEqual(['t', 't']);
  });
});
