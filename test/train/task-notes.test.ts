import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { TrainingFolder } from '../../backend/train/trainings/training-folder.ts';
import { DecisionKeeper, taskNotesOf } from '../../backend/train/trainings/task-notes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ALL = { offset: 0, limit: 100 };
const someFolder = async (): Promise<TrainingFolder> => new TrainingFolder(await temporaryFolder());

describe('the tasks of a training', () => {
  it('are told with the reasons, what is learned from first and what was left out last', async () => {
    const folder = await someFolder();
    const keeper = new DecisionKeeper(folder);
    keeper.decided({ about: 'src/a.ts:3', state: 'left-out', reason: 'No test notices it.' });
    keeper.decided({ about: 'src/a.ts:9', state: 'held-out', reason: 'Mended 1 of 1 failing tests.' });
    keeper.decided({ about: 'commit 0123', state: 'train', reason: 'Mended 2 of 2 failing tests.' });
    keeper.untried(7);
    await keeper.kept();
    await folder.saveTasks({ project: [], file: { path: path.join('/app', 'mine.jsonl'), sha256: '', train: ['t1'], heldOut: ['t2'] } });
    const notes = await taskNotesOf(folder, ALL);
    expect(notes).toMatchObject({ total: 5, train: 2, heldOut: 2, leftOut: 1, untried: 7 });
    expect(notes.tasks.map(({ about, source, state }) => `${about} ${source} ${state}`)).toEqual([
      'commit 0123 project train', 't1 file train', 'src/a.ts:9 project held-out', 't2 file held-out', 'src/a.ts:3 project left-out',
    ]);
    expect(notes.tasks[1]?.reason).toBe('It is in mine.jsonl, whose tasks are used as they are.');
    expect((await taskNotesOf(folder, { offset: 3, limit: 1 })).tasks).toEqual([notes.tasks[3]]);
  });

  it('can be read while they are being made, and are none before', async () => {
    const folder = await someFolder();
    expect(await taskNotesOf(folder, ALL)).toEqual({ offset: 0, tasks: [], total: 0, train: 0, heldOut: 0, leftOut: 0, untried: 0 });
    const keeper = new DecisionKeeper(folder);
    const long = 'x'.repeat(5_000);
    for (let index = 0; index < 20; index += 1) {
      keeper.decided({ about: `src/a.ts:${index}`, state: 'left-out', reason: long });
      keeper.untried(19 - index);
    }
    await keeper.kept();
    const { leftOut, untried, tasks } = await taskNotesOf(folder, ALL);
    expect([leftOut, untried, tasks[0]?.reason.length]).toEqual([20, 0, 300]);
  });

  it('are kept although one write fails: the next has everything', async () => {
    const folder = await someFolder();
    let isFull = true;
    const keeper = new DecisionKeeper({
      saveDecisions: async (decisions) => {
        if (isFull) throw new Error('ENOSPC');
        await folder.saveDecisions(decisions);
      },
    });
    keeper.decided({ about: 'src/a.ts:3', state: 'left-out', reason: 'No test notices it.' });
    await expect(keeper.kept()).rejects.toThrow('ENOSPC');
    isFull = false;
    keeper.decided({ about: 'src/a.ts:9', state: 'train', reason: 'Mended 1 of 1 failing tests.' });
    await keeper.kept();
    expect(await taskNotesOf(folder, ALL)).toMatchObject({ total: 2, train: 1, leftOut: 1 });
  });

  it('that cannot be read are not taken for tasks that were never made', async () => {
    const folder = await someFolder();
    expect(await folder.tasks()).toBeUndefined();
    await mkdir(path.join(folder.path, 'tasks.json'));
    await expect(folder.tasks()).rejects.toThrow('EISDIR');
  });

  it('that an earlier version made have no more to say than that they were admitted', async () => {
    const folder = await someFolder();
    const task = { id: 'write-1', kind: 'write', question: '', path: 'a.ts', before: 'a', after: 'b', context: '', shown: [], split: 'train' } as const;
    await folder.saveTasks({ project: [{ ...task, shown: [] }] });
    expect((await taskNotesOf(folder, ALL)).tasks).toMatchObject([{ about: 'write-1', state: 'train', reason: 'Tests failed with it and passed without it, twice.' }]);
  });
});
