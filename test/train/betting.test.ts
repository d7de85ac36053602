import { describe, expect, it } from 'vitest';
import { seededUniforms } from '../../backend/lm/checkpoint/seeded-uniforms.ts';
import { DIFFERENCE, isShown, meanSoFar, moreToShow, SHARE } from '../../backend/train/statistics/betting.ts';

type Chance = (task: number) => number;

const TASKS = 12;
const OF_LOOK = 8;
const PASSES = 8;
const TRAININGS = 300;

/** Looks as a training takes them: pairs of tries of tasks drawn without replacement, and a decision after each look. */
function training(uniform: () => number, before: Chance, after: Chance): { readonly says: string; readonly pairs: number } {
  const differences: number[] = [];
  while (differences.length < PASSES * TASKS) {
    const drawn = Array.from({ length: TASKS }, (_, task) => ({ task, order: uniform() })).sort((a, b) => a.order - b.order).slice(0, OF_LOOK);
    for (const { task } of drawn) differences.push(Number(uniform() < after(task)) - Number(uniform() < before(task)));
    if (isShown(differences, 0, 'above', DIFFERENCE)) return { says: 'better', pairs: differences.length };
    if (isShown(differences, 0.1, 'below', DIFFERENCE)) return { says: 'not-better', pairs: differences.length };
  }
  return { says: 'not-known', pairs: differences.length };
}

/** The share of trainings that end so, and their mean number of pairs. */
function ending(says: string, before: Chance, after: Chance): { readonly share: number; readonly pairs: number } {
  const uniform = seededUniforms(11);
  const all = Array.from({ length: TRAININGS }, () => training(uniform, before, after));
  return { share: all.filter((one) => one.says === says).length / TRAININGS, pairs: all.reduce((sum, { pairs }) => sum + pairs, 0) / TRAININGS };
}

const always = (share: number): Chance => () => share;

describe('bets on pairs of tries, looked at after each eight', () => {
  it.each<[string, Chance, Chance]>([
    ['two equal Conductors', always(0.5), always(0.5)],
    ['two equal ones that are seldom right', always(0.15), always(0.15)],
    ['one that is better at half of the tasks and worse at the others', (task) => 0.2 + 0.6 * (task % 2), (task) => 0.8 - 0.6 * (task % 2)],
    ['a worse one', always(0.6), always(0.5)],
  ])('call %s better in at most one training of 40', (_who, before, after) => {
    expect(ending('better', before, after).share).toBeLessThanOrEqual(0.025);
  });

  it('call a gain of 10 points or more "not better" in at most one training of 40', () => {
    expect(ending('not-better', always(0.4), always(0.5)).share).toBeLessThanOrEqual(0.025);
  });

  it('find a gain of 30 points in four of five trainings, and stop early', () => {
    const { share, pairs } = ending('better', always(0.4), always(0.7));
    expect(share).toBeGreaterThan(0.8);
    expect(pairs).toBeLessThan(0.7 * PASSES * TASKS);
  });

  it('find that a loss of 20 points is no gain in most trainings', () => {
    expect(ending('not-better', always(0.6), always(0.4)).share).toBeGreaterThan(0.8);
  });
});

describe('the mean so far', () => {
  it('says nothing without figures', () => {
    expect(meanSoFar([], DIFFERENCE)).toMatchObject({ mean: 0, low: expect.closeTo(-1, 6), high: expect.closeTo(1, 6) });
  });

  it('has an interval that says the same as the bets', () => {
    const differences = Array.from({ length: 40 }, (_, index) => (index % 8 === 0 ? -1 : Number(index % 2 === 1)));
    const { low, high } = meanSoFar(differences, DIFFERENCE);
    for (const value of [-0.2, 0, 0.1, 0.3]) expect(isShown(differences, value, 'above', DIFFERENCE)).toBe(value < low);
    for (const value of [0.4, 0.6, 0.9]) expect(isShown(differences, value, 'below', DIFFERENCE)).toBe(value > high);
  });

  it('holds the true mean at every look in at least 95 % of cases', () => {
    const uniform = seededUniforms(5);
    const misses = Array.from({ length: 100 }, () => {
      const figures: number[] = [];
      return Array.from({ length: 8 }, () => {
        for (let tries = 0; tries < 8; tries += 1) figures.push(Number(uniform() < 0.7));
        const { low, high } = meanSoFar(figures, SHARE);
        return low > 0.7 || high < 0.7;
      }).includes(true);
    });
    expect(misses.filter(Boolean).length).toBeLessThanOrEqual(5);
  });
});

describe('what more would take', () => {
  it('is as much as shows it, where all goes on as it was', () => {
    const differences = [1, 0, 1, -1, 1, 0, 1, 0, 1, 0];
    const more = moreToShow(differences, 0, 'above', DIFFERENCE)!;
    const like = Array.from({ length: more }, (_, index) => differences[index % differences.length]!);
    expect(isShown([...differences, ...like], 0, 'above', DIFFERENCE)).toBe(true);
    expect(isShown([...differences, ...like.slice(0, more / 2)], 0, 'above', DIFFERENCE)).toBe(false);
  });

  it('is unknown where nothing speaks for it', () => {
    expect(moreToShow([0, 1, -1, 0], 0, 'above', DIFFERENCE)).toBeUndefined();
  });
});
