import { expect, it } from 'vitest';
import { RecordBook } from '../../backend/records/record-book.ts';
import { recordBook, workerRecords } from '../../backend/records/worker-records.ts';
import { done, endedBy, planned, ran } from '../journal/judged.ts';
import { openJournal } from '../journal/temporary.ts';
import { answers } from './judged-step.ts';

/** The pool of `accepted`. */
const POOL = [{ id: 'first', model: 'model-a' }, { id: 'second', model: 'model-b' }];
const HERE = '/projects/sample';

it('the Conductor is told of the judged plans of this project, of those elsewhere, and of what a step costs and takes', () => {
  const journal = openJournal();
  ran(journal, 'r1', [planned([0, 1]), done(0, 0.01, 2_000), done(1, 0.04, 8_000), ...endedBy('verified')]);
  ran(journal, 'r2', [planned([1]), done(0, 0.02, 4_000), ...endedBy('failed')]);
  ran(journal, 'r3', [planned([1]), done(0, 1, 1), ...endedBy('verified')], {}, { workspace: '/projects/other' });
  const records = workerRecords(recordBook(journal), { project: HERE, kind: 'bug' }, POOL);
  expect(records).toEqual([
    { worker: 'first', runs: 1, verified: 1, steps: 1, usd: 0.01, durationMs: 2_000, expected: expect.any(Number) as number },
    { worker: 'second', runs: 2, verified: 1, steps: 2, usd: 0.03, durationMs: 6_000, expected: expect.any(Number) as number, elsewhere: { runs: 1, verified: 1 } },
  ]);
  expect(workerRecords(recordBook(journal), { project: HERE }, [{ id: 'first', model: 'model-c' }])).toEqual([]);
});

it('a worker that is known from elsewhere alone is told of so', () => {
  const book = new RecordBook(answers(6, 6, { worker: 'first', model: 'model-a', project: '/elsewhere', usd: 0.03 }));
  expect(workerRecords(book, { project: HERE }, POOL)).toMatchObject([{ worker: 'first', runs: 0, verified: 0, steps: 0, usd: expect.closeTo(0.03) as number, elsewhere: { runs: 6, verified: 6 } }]);
});

it('roles are told apart where at least two of them have enough answers', () => {
  const of = { worker: 'first', model: 'model-a' };
  const few = new RecordBook([...answers(9, 9, of), ...answers(4, 0, { ...of, role: 'check' })]);
  expect(workerRecords(few, { project: HERE }, POOL)[0]).not.toHaveProperty('roles');
  const enough = new RecordBook([...answers(9, 9, of), ...answers(5, 0, { ...of, role: 'check' })]);
  const [write, check] = workerRecords(enough, { project: HERE }, POOL)[0]?.roles ?? [];
  expect([write?.role, check?.role]).toEqual(['write', 'check']);
  expect(write?.expected).toBeGreaterThan(check?.expected ?? 1);
});
