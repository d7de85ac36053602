import { describe, expect, it } from 'vitest';
import type { TaskNotes, Training, TrainingChange, WholeRollout } from '../../backend/protocol/training.ts';
import { TrainingDetails } from '../../extension/training/training-details.ts';
import { Trainings } from '../../extension/training/trainings.ts';
import { connectionOver, FakeBackend } from './fake-backend.ts';
import { training } from './training-fixture.ts';

const NOTES: TaskNotes = { offset: 0, tasks: [], total: 0, train: 0, heldOut: 0, leftOut: 0, untried: 0 };
const whole = (runId: string, message?: string): WholeRollout => ({ runId, question: 'Why?', text: '', steps: [], ...(message !== undefined && { message }) });
const rollout = (runId: string): TrainingChange => ({
  rollouts: { step: 1, list: [{ runId, place: 0, sample: 0, revises: false, question: 'Why?', steps: [], outcome: 'verified', reward: 1 }] },
});

/** Details of the training `t1`, which is open, and a way to change it. */
async function detailsOf(change: Partial<Training> = {}) {
  const backend = new FakeBackend()
    .answer('training/list', () => ({ trainings: [] }))
    .answer('training/unsubscribe', () => ({}))
    .answer('training/subscribe', (params) => training((params as { trainingId: string }).trainingId, change));
  const { connection } = connectionOver([backend]);
  const trainings = new Trainings({ connection, folders: () => [], memory: { trainingId: undefined, remember: () => undefined } });
  const details = new TrainingDetails({ connection, trainings });
  await trainings.show('t1');
  let seq = 0;
  const happen = (happened: TrainingChange): void => backend.emit('training/event', { trainingId: 't1', seq: seq += 1, at: seq, change: happened });
  const next = (): Promise<void> => new Promise((resolve) => {
    const end = details.changed.on(() => {
      end();
      resolve();
    });
  });
  return { backend, trainings, details, happen, next };
}

describe('TrainingDetails', () => {
  it('asks for tasks only once somebody wants them, and again while they are made', async () => {
    const { backend, details, happen, next } = await detailsOf({ state: 'preparing' });
    let total = 0;
    backend.answer('training/tasks', () => ({ ...NOTES, total: total += 1 }));
    happen({ progress: { done: 1, of: 9 } });
    expect(backend.callsOf('training/tasks')).toEqual([]);
    await details.showTasks('t1', 100);
    expect(details.tasks?.total).toBe(1);
    const changed = next();
    happen({ progress: { done: 2, of: 9 } });
    await changed;
    expect(details.tasks?.total).toBe(2);
    expect(backend.callsOf('training/tasks')).toEqual([{ trainingId: 't1', limit: 100 }, { trainingId: 't1', limit: 100 }]);
  });

  it('asks once more, and no oftener, for what changed while it was on its way', async () => {
    const { backend, details, happen } = await detailsOf({ state: 'preparing' });
    const answers: PromiseWithResolvers<TaskNotes>[] = [];
    backend.answer('training/tasks', () => {
      const answer = Promise.withResolvers<TaskNotes>();
      answers.push(answer);
      if (answers.length > 1) answer.resolve({ ...NOTES, total: answers.length });
      return answer.promise;
    });
    const shown = details.showTasks('t1', 100);
    for (let done = 1; done < 5; done += 1) happen({ progress: { done, of: 9 } });
    while (answers.length === 0) await new Promise(setImmediate);
    answers[0]!.resolve(NOTES);
    await shown;
    expect([answers.length, details.tasks?.total]).toEqual([2, 2]);
  });

  it('reads the rollout that was asked for meanwhile, although the one before could not be read', async () => {
    const { backend, details } = await detailsOf();
    const gone = Promise.withResolvers<WholeRollout>();
    backend.answer('training/rollout', (params) => {
      const { runId } = params as { runId: string };
      return runId === 'gone' ? gone.promise : whole(runId);
    });
    const first = details.showRollout('t1', 'gone');
    await details.showRollout('t1', 'there');
    gone.reject(new Error('There is no such rollout.'));
    await first;
    expect(details.rollout).toEqual(whole('there'));
  });

  it('leaves tasks alone that no longer change', async () => {
    const { backend, details, happen } = await detailsOf();
    backend.answer('training/tasks', () => NOTES);
    await details.showTasks('t1', 100);
    happen({ step: 1, progress: null });
    await new Promise(setImmediate);
    expect(backend.callsOf('training/tasks')).toHaveLength(1);
  });

  it('keeps one rollout up to date, and forgets it when it is closed', async () => {
    const { backend, details, happen, next } = await detailsOf();
    let message = 'Not yet.';
    backend.answer('training/rollout', (params) => whole((params as { runId: string }).runId, message));
    await details.showRollout('t1', 't1.0.0.0');
    expect(details.rollout).toEqual(whole('t1.0.0.0', 'Not yet.'));
    happen(rollout('t1.0.0.1'));
    message = 'Mended.';
    const changed = next();
    happen(rollout('t1.0.0.0'));
    await changed;
    expect(details.rollout?.message).toBe('Mended.');
    expect(backend.callsOf('training/rollout')).toHaveLength(2);
    await details.showRollout('t1', undefined);
    expect(details.rollout).toBeUndefined();
  });

  it('forgets everything of a training that is closed or left for another', async () => {
    const { backend, trainings, details } = await detailsOf();
    backend.answer('training/tasks', () => NOTES).answer('training/rollout', () => whole('t1.0.0.0'));
    await details.showTasks('t1', 100);
    await details.showRollout('t1', 't1.0.0.0');
    await trainings.show('t2');
    expect([details.tasks, details.rollout]).toEqual([undefined, undefined]);
    await details.showTasks('t1', 100);
    expect(details.tasks).toBeUndefined();
  });
});
