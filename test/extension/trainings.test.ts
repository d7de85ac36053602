import { describe, expect, it } from 'vitest';
import { Trainings } from '../../extension/trainings.ts';
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

const answering = (...known: ReturnType<typeof training>[]): FakeBackend => new FakeBackend()
  .answer('training/list', () => ({ trainings: known }))
  .answer('training/get', (params) => {
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
    backend.emit('training/changed', training('new', { startedAt: 2 }));
    backend.emit('training/changed', training('foreign', { startedAt: 3, workspace: '/elsewhere' }));
    backend.emit('training/changed', training('old', { state: 'paused', updatedAt: 2 }));
    expect(trainings.list.map(({ trainingId, state }) => [trainingId, state])).toEqual([['new', 'training'], ['old', 'paused']]);
  });

  it('follows the one that is open, and forgets it when it is closed', async () => {
    const backend = answering(training('t1'));
    const { trainings, remembered } = trainingsOn([backend]);
    await trainings.show('t1');
    backend.emit('training/changed', training('t1', { step: 3, updatedAt: 2 }));
    expect(trainings.open).toMatchObject({ step: 3 });
    trainings.close();
    backend.emit('training/changed', training('t1', { step: 4, updatedAt: 3 }));
    expect([trainings.isOpen, trainings.open]).toEqual([false, undefined]);
    expect(remembered).toEqual(['t1', undefined]);
  });

  it('takes no older state for news', async () => {
    const backend = answering(training('t1', { step: 1 }));
    const { trainings, connection } = trainingsOn([backend]);
    await connection.client();
    backend.emit('training/changed', training('t1', { step: 2, updatedAt: 2 }));
    await trainings.show('t1');
    expect(trainings.open?.step).toBe(2);
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
    backend.emit('training/changed', training('t1', { state: 'completed', updatedAt: 2 }));
    backend.emit('training/changed', training('t1', { state: 'completed', adopted: true, updatedAt: 3 }));
    backend.emit('training/changed', training('t2', { state: 'cancelled', updatedAt: 2 }));
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
