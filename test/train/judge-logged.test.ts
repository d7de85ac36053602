import { describe, expect, it } from 'vitest';
import { judgeLogged, type ScoredOutcome } from '../../backend/train/outcomes/judge-logged.ts';

const scored = (verified: boolean, gain: number, valid = true): ScoredOutcome => ({ verified, before: -3, after: -3 + gain, valid: { before: true, after: valid } });
const plans = (verified: readonly number[], other: readonly number[], valid = true): ScoredOutcome[] => [...verified.map((gain) => scored(true, gain, valid)), ...other.map((gain) => scored(false, gain, valid))];

describe('what the newest outcomes say', () => {
  it('is "better" where verified plans gained, and more than the others by more than chance gives', () => {
    const told = judgeLogged(plans([1, 1.2, 0.9, 1.1, 1.3, 1], [-0.5, 0.1, -0.2, -0.4, 0, -0.1]), 1);
    expect(told).toMatchObject({ says: 'better', verified: 6, other: 6, formatRate: { before: 1, after: 1 } });
    expect(told.difference!.low).toBeGreaterThan(0);
    expect(told.pValue).toBeLessThan(0.05);
    expect(judgeLogged(plans([1, 1.2, 0.9, 1.1, 1.3, 1], [-0.5, 0.1, -0.2, -0.4, 0, -0.1]), 1)).toEqual(told);
  });

  it('is "not better" where the others gained more, or plans that are no longer valid are written', () => {
    expect(judgeLogged(plans([-0.5, 0.1, -0.2, -0.4, 0, -0.1], [1, 1.2, 0.9, 1.1, 1.3, 1]), 1).says).toBe('not-better');
    expect(judgeLogged(plans([1, 1.2, 0.9, 1.1, 1.3, 1], [-0.5, 0.1, -0.2, -0.4, 0, -0.1], false), 1)).toMatchObject({ says: 'not-better', formatRate: { after: 0 } });
  });

  it('is "not known" of few plans of a kind, of a difference like chance, and where verified plans became less likely, too', () => {
    expect(judgeLogged(plans([1, 1, 1, 1], [0, 0, 0, 0, 0, 0]), 1)).toEqual({ verified: 4, other: 6, gain: { verified: 1, other: 0 }, formatRate: { before: 1, after: 1 }, says: 'not-known' });
    expect(judgeLogged(plans([1, -1, 2, -2, 0.5, 0], [0.5, -1, 1.5, -2, 0, 1]), 1).says).toBe('not-known');
    expect(judgeLogged(plans([-1, -1.2, -0.9, -1.1, -1.3, -1], [-5, -5.1, -4.9, -5, -5.2, -4.8]), 1).says).toBe('not-known');
    expect(judgeLogged([], 1).says).toBe('not-known');
  });
});
