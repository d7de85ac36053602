import { describe, expect, it } from 'vitest';
import { trainingSummaryOf, type Training, type TrainingChange, type TrainingSummary } from '../../backend/protocol/training.ts';
import { Trainings } from '../../extension/training/trainings.ts';
import { connectionOver, FakeBackend } from './fake-backend.ts';
import { training } from './training-fixture.ts';

function trainingsOn(backends: FakeBackend[], { folders = ['/app'], trainingId }: { folders?: string[]; trainingId?: string } = {}) {
  const remembered: (string | undefined)[] = [];
  const { connection } = connectionOver(backends);
  const trainings = new Trainings({
    connection, folders: () => folders, memory: { trainingId, remember: (id) => void remembered.push(id) },
  });
  const until = (holds: () => boolean): Promise<void> => new Promise((resolve) => {
    const end = trainings.changed.on(() => {
      if (!holds()) return;
      end();
      resolve();
    });
  });
  return { connection, trainings, remembered, until };
}

const summary = (trainingId: string, change: Partial<Training> = {}): TrainingSummary => trainingSummaryOf(training(trainingId, change));
const event = (seq: number, change: TrainingChange, trainingId = 't1') => ({ trainingId, seq, at: seq, change });

const answering = (...known: Training[]): FakeBackend => new FakeBackend()
  .answer('training/list', () => ({ trainings: known.map(trainingSummaryOf) }))
  .answer('training/unsubscribe', () => ({}))
  .answer('training/subscribe', (params) => {
    const found = known.find(({ trainingId }) => trainingId === (params as { trainingId: string }).trainingId);
    if (!found) throw new Error('There is no such training.');
    return found;
  });

describe('Trainings', () => {
  it('lists those of its folders, newest first, as they change', async () => {
    const backend = answering(training('old'));
    const { connection, trainings, until } = trainingsOn([backend]);
    const listed = until(() => trainings.list.length > 0);
    await connection.client();
    await listed;
    backend.emit('training/changed', summary('new', { startedAt: 2 }));
    backend.emit('training/changed', summary('foreign', { startedAt: 3, workspace: '/elsewhere' }));
    backend.emit('training/changed', summary('old', { state: 'paused', updatedAt: 2 }));
    expect(trainings.list.map(({ trainingId, state }) => [trainingId, state])).toEqual([['new', 'training'], ['old', 'paused']]);
  });

  it('lists one that learns from all projects in every window, once', async () => {
    const { connection, trainings, until } = trainingsOn([answering(training('of-all', { workspace: '', learnsFrom: 'outcomes' }))], { folders: ['/app', '/other'] });
    const listed = until(() => trainings.list.length > 0);
    await connection.client();
    await listed;
    expect(trainings.list.map(({ trainingId }) => trainingId)).toEqual(['of-all']);
  });

  it('follows the one that is open by its changes, and no longer once it is closed', async () => {
    const backend = answering(training('t1'));
    const { trainings, remembered } = trainingsOn([backend]);
    const left = new Promise((resolve) => void backend.answer('training/unsubscribe', (params) => {
      resolve(params);
      return {};
    }));
    await trainings.show('t1');
    backend.emit('training/event', event(1, { step: 1, metrics: { after: 0, told: [{ reward: 0.25 }] }, progress: null }));
    backend.emit('training/event', event(2, { step: 2, metrics: { after: 1, told: [{ reward: 0.5 }] } }));
    backend.emit('training/event', event(1, { step: 9 }, 'another'));
    expect(trainings.open).toMatchObject({ seq: 2, step: 2, metrics: [{ reward: 0.25 }, { reward: 0.5 }] });
    trainings.close();
    expect([trainings.isOpen, trainings.open]).toEqual([false, undefined]);
    expect(await left).toEqual({ trainingId: 't1' });
    expect(remembered).toEqual(['t1', undefined]);
  });

  it('forgets one that is removed, and closes it where it is open', async () => {
    const backend = answering(training('t1'), training('t2'));
    const { trainings, until, connection } = trainingsOn([backend]);
    const listed = until(() => trainings.list.length === 2);
    await connection.client();
    await listed;
    await trainings.show('t1');
    backend.emit('training/removed', { trainingId: 't2' });
    expect(trainings.list.map(({ trainingId }) => trainingId)).toEqual(['t1']);
    expect(trainings.open).toBeDefined();
    backend.emit('training/removed', { trainingId: 't1' });
    expect([trainings.list, trainings.open]).toEqual([[], undefined]);
  });

  it('takes no older state for news', async () => {
    const backend = answering(training('t1', { step: 1 }));
    const { trainings, connection } = trainingsOn([backend]);
    await connection.client();
    backend.emit('training/changed', summary('t1', { step: 2, updatedAt: 2 }));
    await trainings.refresh();
    expect(trainings.list[0]?.step).toBe(2);
  });

  it('asks for the whole again where a change was missed, and loses nothing that comes meanwhile', async () => {
    const backend = answering(training('t1'));
    const { trainings, until } = trainingsOn([backend]);
    await trainings.show('t1');
    const whole = Promise.withResolvers<Training>();
    backend.answer('training/subscribe', () => whole.promise);
    backend.emit('training/event', event(3, { step: 3 }));
    backend.emit('training/event', event(4, { step: 4 }));
    const caughtUp = until(() => trainings.open?.seq === 4);
    whole.resolve(training('t1', { seq: 3, step: 3, metrics: [{}, {}, {}] }));
    await caughtUp;
    expect(trainings.open).toMatchObject({ step: 4, metrics: [{}, {}, {}] });
  });

  it('opens the remembered one as soon as there is a connection, and again on a new one', async () => {
    const [first, second] = [answering(training('t1', { step: 1 })), answering(training('t1', { step: 5, updatedAt: 2 }))];
    const { connection, trainings, until } = trainingsOn([first, second], { trainingId: 't1' });
    expect([trainings.isOpen, trainings.open]).toEqual([true, undefined]);
    const opened = until(() => trainings.open?.step === 1);
    await connection.client();
    await opened;
    const caughtUp = until(() => trainings.open?.step === 5);
    first.lose();
    await caughtUp;
  });

  it('tells once when one that was under way stops, and not of one that had stopped before', async () => {
    const backend = answering(training('t1'), training('t2', { state: 'paused' }));
    const { connection, trainings, until } = trainingsOn([backend]);
    const stopped: string[] = [];
    trainings.stopped.on(({ trainingId, state }) => void stopped.push(`${trainingId} ${state}`));
    const listed = until(() => trainings.list.length > 0);
    await connection.client();
    await listed;
    backend.emit('training/changed', summary('t1', { state: 'completed', updatedAt: 2 }));
    backend.emit('training/changed', summary('t1', { state: 'completed', adopted: true, updatedAt: 3 }));
    backend.emit('training/changed', summary('t2', { state: 'cancelled', updatedAt: 2 }));
    expect(stopped).toEqual(['t1 completed']);
  });

  it('forgets a remembered one that the backend no longer knows, and says so', async () => {
    const { connection, trainings, remembered } = trainingsOn([answering()], { trainingId: 'gone' });
    const problem = new Promise<string>((resolve) => void trainings.problem.on(resolve));
    await connection.client();
    expect(await problem).toBe('There is no such training.');
    expect([trainings.isOpen, remembered]).toEqual([false, [undefined]]);
  });

  it('keeps showing what it showed where another one cannot be opened', async () => {
    const { trainings } = trainingsOn([answering(training('t1'))]);
    await trainings.show('t1');
    await expect(trainings.show('gone')).rejects.toThrow('There is no such training.');
    expect(trainings.open?.trainingId).toBe('t1');
  });
});
