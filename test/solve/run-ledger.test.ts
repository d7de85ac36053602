import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { raisedLimit, unpricedTokensFor } from '../../backend/protocol/budget-limits.ts';
import { budgetSchema } from '../../backend/protocol/worker-config.ts';
import { LimitReachedError } from '../../backend/solve/errors.ts';
import { RunLedger } from '../../backend/solve/run-ledger.ts';
import { BudgetSpentError } from '../../backend/workers/errors.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const NOON = new Date(2026, 10, 22, 12).getTime();
const run = { runId: 'r1', budget: budgetSchema.parse({ runTokens: 1_000, dayTokens: 1_500 }) };

let journal: Journal;
beforeEach(async () => { journal = Journal.open(path.join(await temporaryFolder(), 'journal.sqlite')); });
afterEach(() => journal.close());

const ledgerOf = (training?: { name: string; limitUsd: number; limitTokens: number }, of = run): RunLedger =>
  new RunLedger({ run: of, budget: journal.budget, now: () => NOON, training });
const refusalOf = (reserve: () => unknown): unknown => {
  try {
    reserve();
  } catch (error) {
    return error;
  }
  return undefined;
};

it('a call that nobody sends a bill for is held by no limit, and takes nothing of any', () => {
  const ledger = ledgerOf();
  const { id } = ledger.reserve({ usd: 0, tokens: 50_000, isFree: true });
  journal.budget.settle(id, { usd: 0, tokens: 50_000 });
  expect(journal.budget.spent('run:r1').tokens + journal.budget.spent('day:2026-11-22').tokens).toBe(0);
  ledger.reserve({ usd: 0.01, tokens: 1_000, isFree: false });
});

it('a call that a limit does not hold is refused with what would hold it', () => {
  const ledger = ledgerOf();
  const { id } = ledger.reserve({ tokens: 210, isFree: false });
  journal.budget.settle(id, { tokens: 210 });
  const refusal = refusalOf(() => ledger.reserve({ tokens: 9_647, isFree: false }));
  expect(refusal).toBeInstanceOf(LimitReachedError);
  expect(refusal).toMatchObject({ limit: 'runTokens', needed: 9_857, message: expect.stringContaining('210 tokens are spent.') });
});

it('in a training workers without a known price have the tokens that its dollars stand for, and the others its dollars', () => {
  const wide = { runId: 'r1', budget: budgetSchema.parse({ runTokens: 9_000_000, dayTokens: 9_000_000 }) };
  const ledger = ledgerOf({ name: 'training:t', limitUsd: 1, limitTokens: 20_000_000 }, wide);
  expect(unpricedTokensFor(1)).toBe(400_000);
  ledger.reserve({ tokens: 390_000, isFree: false });
  expect(refusalOf(() => ledger.reserve({ tokens: 20_000, isFree: false }))).toMatchObject({
    scope: 'training:t.unpriced', limit: 'usd', needed: 1.025, message: expect.stringMatching(/^The budget of this training \(\$1\.00, which is 400k tokens where no price is known\)/),
  });
  ledger.reserve({ usd: 0.5, tokens: 500_000, isFree: false });
  expect(refusalOf(() => ledger.reserve({ usd: 0.6, tokens: 10, isFree: false }))).toBeInstanceOf(BudgetSpentError);
  expect(journal.budget.reserved('training:t.unpriced')).toEqual({ usd: 0, tokens: 390_000 });
});

it('a training has a budget of its own beside that of the day', () => {
  const run = { runId: 'r1', budget: budgetSchema.parse({ dayTokens: 1_000 }) };
  ledgerOf({ name: 'training:t', limitUsd: 1, limitTokens: 20_000 }, run).reserve({ usd: 0.1, tokens: 1_500, isFree: false });
  expect(journal.budget.reserved('training:t').tokens).toBe(1_500);
  ledgerOf(undefined, run).reserve({ usd: 0.1, tokens: 900, isFree: false });
});

it.each([
  [{ limit: 3_000, needed: 9_857 }, 15_000],
  [{ limit: 3_000, needed: 3_500 }, 6_000],
  [{ limit: 3_000 }, 6_000],
  [{ limit: 0.000_001, needed: 0.0412 }, 0.062],
  [{ limit: 1, needed: 1.02 }, 2],
  [{ limit: 0.1, needed: 0.15 }, 0.2],
])('a limit that was reached is raised by enough to go on: %j', (stopped, raised) => expect(raisedLimit(stopped)).toBe(raised));
