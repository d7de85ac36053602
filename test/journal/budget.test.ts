import { describe, expect, test } from 'vitest';
import { ReservationClosedError } from '../../backend/journal/errors.ts';
import type { Budget, ReservationRequest } from '../../backend/journal/budget.ts';
import { accepted, resumed, stepCompleted } from './sample-events.ts';
import { openJournal, reservationsIn, temporaryFile } from './temporary.ts';

const run = { name: 'run:r', limitUsd: 1, limitTokens: 1_000 };
const day = { name: 'day:2026-11-05', limitUsd: 10, limitTokens: 100_000 };

function granted(budget: Budget, request: Partial<ReservationRequest>): string {
  const answer = budget.reserve({ runId: 'r', scopes: [run, day], tokens: 0, ...request });
  if (!answer.granted) throw new Error(`refused by ${answer.scope}`);
  return answer.reservationId;
}

describe('a reservation', () => {
  test('is granted up to the limit and not beyond, naming the scope, the unit and the figures', () => {
    const { budget } = openJournal();
    granted(budget, { usd: 0.6, tokens: 100 });
    expect(budget.reserve({ runId: 'r', scopes: [day, run], usd: 0.5, tokens: 100 })).toEqual({
      granted: false, scope: 'run:r', unit: 'usd', limit: 1, spent: 0, reserved: 0.6, asked: 0.5,
    });
    expect(budget.reserve({ runId: 'r', scopes: [day, run], usd: 0.1, tokens: 901 })).toEqual({
      granted: false, scope: 'run:r', unit: 'tokens', limit: 1_000, spent: 0, reserved: 100, asked: 901,
    });
    granted(budget, { usd: 0.4, tokens: 900 });
    expect(budget.reserved('day:2026-11-05')).toEqual({ usd: 1, tokens: 1_000 });
  });

  test('that one scope refuses is set aside in none', () => {
    const { budget } = openJournal();
    expect(budget.reserve({ runId: 'r', scopes: [day, run], usd: 2, tokens: 1 })).toMatchObject({ granted: false });
    expect(budget.reserved(day.name)).toEqual({ usd: 0, tokens: 0 });
  });

  test('adds up as money does: ten times ten cents are a dollar', () => {
    const { budget } = openJournal();
    for (let i = 0; i < 10; i += 1) granted(budget, { usd: 0.1 });
    expect(budget.reserve({ runId: 'r', scopes: [run], usd: 0.001, tokens: 0 })).toMatchObject({ granted: false });
  });

  test('of an unpriced call is held by the tokens alone', () => {
    const { budget } = openJournal();
    granted(budget, { usd: 1, tokens: 1 });
    granted(budget, { tokens: 999 });
    expect(budget.reserve({ runId: 'r', scopes: [run], tokens: 1 })).toMatchObject({ granted: false, unit: 'tokens' });
  });

  test('without limits is always granted, and counted', () => {
    const { budget } = openJournal();
    granted(budget, { scopes: [{ name: 'training:t' }], usd: 1e6, tokens: 1e9 });
    expect(budget.reserved('training:t')).toEqual({ usd: 1e6, tokens: 1e9 });
  });

  test('is forgotten once it is settled, and not before; what it cost stays counted', () => {
    const file = temporaryFile();
    const { budget } = openJournal(file);
    const id = granted(budget, { usd: 0.5, tokens: 500 });
    budget.forget(id);
    expect(budget.reserved(run.name)).toEqual({ usd: 0.5, tokens: 500 });
    budget.settle(id, { usd: 0.25, tokens: 100 });
    budget.forget(id);
    expect(budget.spent(run.name)).toEqual({ usd: 0.25, tokens: 100 });
    expect(reservationsIn(file)).toBe(0);
    expect(() => budget.settle(id, { tokens: 1 })).toThrow(ReservationClosedError);
  });

  test('is settled with what was really spent, in each of its scopes', () => {
    const { budget } = openJournal();
    budget.settle(granted(budget, { usd: 0.5, tokens: 500 }), { usd: 0.75, tokens: 100 });
    budget.settle(granted(budget, { usd: 0.25, tokens: 500 }), { tokens: 50 });
    for (const { name } of [run, day]) {
      expect(budget.spent(name)).toEqual({ usd: 0.75, tokens: 150 });
      expect(budget.reserved(name)).toEqual({ usd: 0, tokens: 0 });
    }
    expect(budget.reserve({ runId: 'r', scopes: [run], usd: 0.26, tokens: 0 })).toMatchObject({ granted: false, spent: 0.75 });
  });

  test('is given back when it is released', () => {
    const { budget } = openJournal();
    budget.release(granted(budget, { usd: 1, tokens: 1_000 }));
    expect(budget.spent(run.name)).toEqual({ usd: 0, tokens: 0 });
    granted(budget, { usd: 1, tokens: 1_000 });
  });

  test('is closed once', () => {
    const { budget } = openJournal();
    const id = granted(budget, { usd: 0.1, tokens: 1 });
    budget.settle(id, { usd: 0.1, tokens: 1 });
    expect(() => budget.settle(id, { usd: 0.1, tokens: 1 })).toThrow(ReservationClosedError);
    expect(() => budget.release(id)).toThrow(ReservationClosedError);
    expect(() => budget.markSent(id)).toThrow(ReservationClosedError);
    expect(() => budget.settle('never made', { tokens: 1 })).toThrow(ReservationClosedError);
    expect(budget.spent(run.name)).toEqual({ usd: 0.1, tokens: 1 });
  });
});

describe('together with events', () => {
  test('a step and what it cost are written in one transaction, or neither is', () => {
    const journal = openJournal();
    journal.accept('r', accepted());
    const id = granted(journal.budget, { usd: 0.1, tokens: 100 });
    journal.append('r', [stepCompleted('done')], { settle: [{ reservationId: id, usd: 0.05, tokens: 60 }] });
    expect(journal.budget.spent(run.name)).toEqual({ usd: 0.05, tokens: 60 });
    expect(() => journal.append('r', [stepCompleted('again')], { settle: [{ reservationId: id, tokens: 60 }] }))
      .toThrow(ReservationClosedError);
    expect(journal.read('r')).toHaveLength(2);
    expect(journal.summary('r')?.usd).toBe(0.0125);
  });

  test('what a dead process left open is spent where its request had left, and given back where not', () => {
    const journal = openJournal();
    journal.accept('r', accepted());
    const sent = granted(journal.budget, { usd: 0.2, tokens: 200 });
    granted(journal.budget, { usd: 0.3, tokens: 300 });
    const settled = granted(journal.budget, { usd: 0.1, tokens: 100 });
    const dropped = granted(journal.budget, { usd: 0.1, tokens: 100 });
    const ofOther = granted(journal.budget, { runId: 'other', scopes: [day], usd: 1, tokens: 1 });
    journal.append('r', [resumed()], {
      reserve: () => sent, settle: [{ reservationId: settled, usd: 0.05, tokens: 50 }], release: [dropped],
    });
    journal.append('r', [resumed()], { closeAbandoned: true });
    expect(journal.budget.spent(run.name)).toEqual({ usd: 0.25, tokens: 250 });
    expect(journal.budget.reserved(run.name)).toEqual({ usd: 0, tokens: 0 });
    expect(journal.budget.closeAbandoned('r')).toEqual({ sent: 0, released: 0, usd: 0, tokens: 0 });
    expect(journal.budget.closeAbandoned('other')).toMatchObject({ released: 1 });
    expect(() => journal.budget.release(ofOther)).toThrow(ReservationClosedError);
  });
});
