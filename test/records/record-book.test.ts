import { describe, expect, it } from 'vitest';
import { seededUniforms } from '../../backend/lm/checkpoint/seeded-uniforms.ts';
import { judgedPlans } from '../../backend/records/judged-plans.ts';
import { RecordBook } from '../../backend/records/record-book.ts';
import { wilson } from '../../backend/records/wilson.ts';
import { answers, by, judgedStep } from './judged-step.ts';

const ANN = by('ann');
const BOB = by('bob');

describe('what tests said of a worker', () => {
  it('is the share of verified answers with its interval, and what an answer and a verified one cost and took', () => {
    const tally = new RecordBook(answers(4, 3)).tally(ANN);
    expect(tally).toMatchObject({ answers: 4, verified: 3, passes: 0, steps: 4, usdPerAnswer: 0.01, msPerAnswer: 2_000, tokens: 4_000 });
    // The newest count most: of four answers, the three newest are verified.
    expect(tally?.share?.mean).toBeCloseTo(0.7526, 3);
    expect(tally?.usdPerVerified).toBeCloseTo(0.01 / 0.7526, 4);
    expect(tally?.share?.low).toBeLessThan(0.35);
    expect(tally?.share?.high).toBeGreaterThan(0.9);
    expect(new RecordBook([]).tally(ANN)).toBeUndefined();
  });

  it('divides a verdict among the steps of its plan, so that what one did alone says more', () => {
    const plan = { runId: 'together', steps: 2, judgement: 'failed' } as const;
    const together = [judgedStep({ ...plan }), judgedStep({ ...plan, step: 1, ...BOB })];
    const book = new RecordBook([...together, judgedStep({ ...BOB })]);
    expect(book.tally(ANN)).toMatchObject({ answers: 1, evidence: 0.5, share: { mean: 0 } });
    expect(book.tally(BOB)?.share?.mean).toBeGreaterThan(0.6);
    // Alone in a plan of two steps, it has the whole verdict, and one answer.
    const alone = new RecordBook([judgedStep({ ...plan }), judgedStep({ ...plan, step: 1, role: 'check' })]);
    expect(alone.tally(ANN)).toMatchObject({ answers: 1, steps: 2, evidence: 1, usdPerAnswer: 0.02, usdPerStep: 0.01 });
    expect(alone.tally(ANN, { role: 'check' })).toMatchObject({ answers: 1, evidence: 0.5 });
  });

  it('counts a step whose own change was refuted as a wrong answer by itself, beside a verified plan', () => {
    const plan = { runId: 'chosen', steps: 3 } as const;
    const steps = [judgedStep({ ...plan, isRefuted: true }), judgedStep({ ...plan, step: 1, ...BOB }), judgedStep({ ...plan, step: 2, ...BOB, role: 'check' })];
    const book = new RecordBook(steps);
    expect(book.tally(ANN)).toMatchObject({ answers: 1, verified: 0, evidence: 1, share: { mean: 0 } });
    expect(book.tally(BOB)).toMatchObject({ answers: 1, verified: 1, share: { mean: 1 } });
    expect(book.tally(BOB)?.evidence).toBeCloseTo(2 / 3);
    expect(book.expected(ANN)).toBeLessThan(book.expected(BOB));
    // The plan itself was verified.
    expect(judgedPlans(steps)).toMatchObject([{ isRight: true }]);
  });

  it('counts tests that prove nothing as no evidence in a question, and as wrong in a training', () => {
    const passes = new RecordBook([judgedStep({ judgement: 'passes' })]);
    expect(passes.tally(ANN)).toMatchObject({ answers: 1, verified: 0, passes: 1, evidence: 0 });
    expect(passes.tally(ANN)).not.toHaveProperty('share');
    expect(passes.expected(ANN)).toBe(0.5);
    const rollout = new RecordBook([judgedStep({ judgement: 'passes', source: 'rollout' })]);
    expect(rollout.tally(ANN)).toMatchObject({ passes: 1, evidence: 1, share: { mean: 0 } });
  });

  it('knows no price where that of one step is unknown, and no price of a verified answer where there is none', () => {
    const book = new RecordBook([judgedStep({ usd: undefined }), ...answers(3, 0, BOB)]);
    expect(book.tally(ANN)).not.toHaveProperty('usdPerAnswer');
    expect(book.tally(ANN)).not.toHaveProperty('usdPerVerified');
    expect(book.tally(BOB)).toMatchObject({ usdPerAnswer: expect.closeTo(0.01) as number });
    expect(book.tally(BOB)).not.toHaveProperty('usdPerVerified');
  });

  it('is another worker\'s where the model is another', () => {
    const book = new RecordBook([judgedStep(), judgedStep({ model: 'newer' })]);
    expect(book.workers()).toEqual([ANN, { worker: 'ann', model: 'newer' }]);
    expect(book.tally(ANN)?.answers).toBe(1);
  });

  it('follows a worker that becomes bad', () => {
    const good = answers(200, 200);
    const bad = answers(100, 0);
    expect(new RecordBook([...bad, ...good]).tally(ANN)?.share?.mean).toBeLessThan(0.45);
    expect(new RecordBook([...bad, ...good]).expected(ANN)).toBeLessThan(0.5);
  });
});

describe('what to expect of a worker', () => {
  it('is a half where nothing is known, and what the others have where nothing is known of it', () => {
    expect(new RecordBook([]).expected(ANN)).toBe(0.5);
    expect(new RecordBook(answers(50, 5, BOB)).expected(ANN)).toBeLessThan(0.2);
  });

  it('is drawn towards what is known otherwise, the less the more is known', () => {
    const others = answers(40, 20, BOB);
    const expected = (all: number, verified: number): number => new RecordBook([...answers(all, verified), ...others]).expected(ANN);
    expect(expected(1, 1)).toBeGreaterThan(0.5);
    expect(expected(1, 1)).toBeLessThan(0.6);
    // Half of it its own, half what all have: about six in ten.
    expect(expected(8, 8)).toBeGreaterThan(0.77);
    expect(expected(8, 8)).toBeLessThan(0.83);
    expect(expected(80, 80)).toBeGreaterThan(0.92);
  });

  it('keeps the order of workers that differ, however few their answers', () => {
    for (const count of [1, 2, 4, 8, 30]) {
      const book = new RecordBook([...answers(count, count), ...answers(count, 0, BOB)]);
      expect(book.expected(ANN)).toBeGreaterThan(book.expected(BOB));
    }
  });

  it('is known by role, by kind of question and by project, from elsewhere where nothing is known here', () => {
    const book = new RecordBook([
      ...answers(30, 27, { role: 'write', kind: 'bug', project: '/elsewhere' }), ...answers(30, 3, { role: 'check', kind: 'bug', project: '/elsewhere' }),
      ...answers(30, 3, { role: 'write', kind: 'feature', project: '/elsewhere' }),
    ]);
    const write = book.expected(ANN, { role: 'write', kind: 'bug', project: '/here' });
    expect(write).toBeGreaterThan(0.7);
    expect(book.expected(ANN, { role: 'check', kind: 'bug', project: '/here' })).toBeLessThan(0.3);
    expect(book.expected(ANN, { role: 'write', kind: 'feature', project: '/here' })).toBeLessThan(0.35);
    const here = new RecordBook([...answers(30, 3, { role: 'write', kind: 'bug' }), ...answers(30, 27, { role: 'write', kind: 'bug', project: '/elsewhere' })]);
    expect(here.expected(ANN, { role: 'write', kind: 'bug', project: '/here' })).toBeLessThan(0.35);
    expect(here.expected(ANN, { role: 'write', kind: 'bug', project: '/elsewhere' })).toBeGreaterThan(0.65);
  });

  it('counts no answer twice: with one project and one kind, a narrower question expects what the whole record says', () => {
    const book = new RecordBook([...answers(10, 9), ...answers(10, 5, BOB)]);
    // Through each level of which nothing more is known, a share is handed on as it is.
    expect(book.expected(ANN, { role: 'write', kind: 'bug', project: '/here' })).toBeCloseTo(book.expected(ANN), 10);
  });

  it('is nearer the truth than the bare share, for pools whose workers differ as published ones do', () => {
    const uniform = seededUniforms(7);
    // True shares of the seven workers on code and on mathematics (arXiv 2512.04388, Table 7).
    const pools = [[0.401, 0.38, 0.575, 0.249, 0.072, 0.312, 0.268], [0.853, 0.829, 0.745, 0.785, 0.375, 0.769, 0.732]];
    for (const count of [3, 10]) {
      let [bare, drawn] = [0, 0];
      for (let trial = 0; trial < 200; trial += 1) {
        const truth = pools[trial % 2] ?? [];
        const book = new RecordBook(truth.flatMap((share, worker) =>
          Array.from({ length: count }, () => judgedStep({ ...by(`w${worker}`), judgement: uniform() < share ? 'verified' : 'failed' }))));
        for (const [worker, share] of truth.entries()) {
          bare += ((book.tally(by(`w${worker}`))?.share?.mean ?? 0) - share) ** 2;
          drawn += (book.expected(by(`w${worker}`)) - share) ** 2;
        }
      }
      expect(drawn).toBeLessThan(0.8 * bare);
    }
  });
});

it('an interval of Wilson\'s is what its formula gives, and stays within 0 and 1', () => {
  // By hand.
  expect(wilson(8, 10)).toEqual({ low: expect.closeTo(0.4902, 3) as number, high: expect.closeTo(0.9433, 3) as number });
  expect(wilson(0, 5)).toEqual({ low: 0, high: expect.closeTo(0.4345, 3) as number });
  expect(wilson(0.5, 0.5).high).toBe(1);
});
