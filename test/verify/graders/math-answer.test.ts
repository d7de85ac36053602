import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { MathAnswerGrader } from '../../../backend/verify/graders/math/math-answer.ts';
import { MathComparer } from '../../../backend/verify/graders/math/math-comparer.ts';
import { sameWrittenNumber, writtenNumber } from '../../../backend/verify/graders/math/rational.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { DIFFERENT, HOSTILE, SAME } from './math-pairs.ts';
import { gradeOf, mathComparer } from './setup.ts';

const comparer = mathComparer(20_000);
afterAll(() => comparer.close());

const outcomeOf = async (expected: string, answer: string, by: Pick<MathComparer, 'same'> = comparer): Promise<string> =>
  (await gradeOf(new MathAnswerGrader({ expected }, by), answer)).outcome;

describe('a result of mathematics', () => {
  it.each(SAME)('%s is also written %s', async (expected, given) => {
    expect(await outcomeOf(expected, `So it is \\boxed{${given}}.`)).toBe('verified');
  });

  it.each(DIFFERENT)('%s is not %s', async (expected, given) => {
    expect(await outcomeOf(expected, `So it is \\boxed{${given}}.`)).toBe('failed');
  });

  it('is the same as itself either way round, wherever it is one', async () => {
    for (const [expected, given] of SAME) {
      expect(await outcomeOf(expected, `Answer: \\boxed{${expected}}`), expected).toBe('verified');
      expect(await outcomeOf(given, `Answer: \\boxed{${given}}`), given).toBe('verified');
    }
  });

  it('may be off by the tolerance of the task and no more', async () => {
    const grader = new MathAnswerGrader({ expected: '9.81', tolerance: { relative: 1e-3, absolute: 1e-6 } }, comparer);
    expect((await gradeOf(grader, '\\boxed{9.815}')).outcome).toBe('verified');
    expect((await gradeOf(grader, '\\boxed{9.83}')).outcome).toBe('failed');
    const small = new MathAnswerGrader({ expected: '0.5', tolerance: { relative: 1e-3, absolute: 1e-6 } }, comparer);
    expect((await gradeOf(small, '\\boxed{0.5000005}')).outcome).toBe('verified');
    expect((await gradeOf(small, '\\boxed{0.5004}')).outcome).toBe('failed');
  });

  it('that is not stated is wrong', async () => {
    expect(await outcomeOf('5', 'I could not\nfind it.')).toBe('failed');
    expect(await outcomeOf('5', '')).toBe('failed');
  });
});

describe('a hostile result', { timeout: 120_000 }, () => {
  it('is wrong, and the next honest one is right', async () => {
    const impatient = mathComparer(1_500);
    try {
      for (const hostile of HOSTILE) {
        expect(await outcomeOf('5', `Answer: ${hostile}`, impatient), hostile.slice(0, 60)).toBe('failed');
      }
      expect(await outcomeOf('x+1', 'Answer: 1+x', impatient)).toBe('verified');
      expect(await outcomeOf('x', 'Answer: 5', impatient)).toBe('failed');
    } finally {
      await impatient.close();
    }
  });

  it('that a task expects by mistake does not hang either', async () => {
    const impatient = mathComparer(1_500);
    try {
      expect(await outcomeOf('9^{9^{9}}', 'Answer: 7', impatient)).toBe('failed');
    } finally {
      await impatient.close();
    }
  });
});

describe('the process that compares', () => {
  it('is infrastructure where it cannot be started', async () => {
    const broken = new MathComparer({ script: '/nowhere/math-process.ts', nodePath: process.execPath, environment: {} });
    expect(await outcomeOf('x+1', 'Answer: 1+x', broken)).toBe('infrastructure');
    const missing = new MathComparer({ script: 'x', nodePath: '/nowhere/node', environment: {} });
    expect(await outcomeOf('x+1', 'Answer: 1+x', missing)).toBe('infrastructure');
  });

  it('gives way to an abort and works on afterwards', async () => {
    const patient = mathComparer(60_000);
    try {
      const aborted = new AbortController();
      const grading = gradeOf(
        new MathAnswerGrader({ expected: 'y' }, patient),
        'Answer: \\binom{10^9}{5\\cdot10^8}',
        aborted.signal,
      );
      aborted.abort(new Error('enough'));
      await expect(grading).rejects.toThrow('enough');
      expect(await outcomeOf('x+1', 'Answer: 1+x', patient)).toBe('verified');
    } finally {
      await patient.close();
    }
  });

  it('gives way to an abort while another comparison is under way', async () => {
    const patient = mathComparer(60_000);
    const [first, second] = [new AbortController(), new AbortController()];
    const hard = gradeOf(new MathAnswerGrader({ expected: 'y' }, patient), 'Answer: \\binom{10^9}{5\\cdot10^8}', first.signal);
    const waiting = gradeOf(new MathAnswerGrader({ expected: 'x+1' }, patient), 'Answer: 1+x', second.signal);
    second.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    first.abort(new Error('enough of this, too'));
    await expect(hard).rejects.toThrow('enough of this, too');
    await patient.close();
  });

  it('is ended on closing while it starts', async () => {
    const script = path.join(await temporaryFolder(), 'never-ready.mjs');
    await writeFile(script, 'setInterval(() => undefined, 1_000);');
    const comparer = new MathComparer({ script, nodePath: process.execPath, environment: {} });
    const grading = outcomeOf('x+1', 'Answer: 1+x', comparer);
    await setImmediate();
    await comparer.close();
    expect(await grading).toBe('infrastructure');
  });

  it('does not load the library where two plain numbers are compared', async () => {
    const none = { same: () => Promise.reject(new Error('asked')) };
    expect(await outcomeOf('1/2', '\\boxed{0.5}', none)).toBe('verified');
    expect(await outcomeOf('70', '\\boxed{071.0}', none)).toBe('failed');
  });
});

describe('written numbers', () => {
  const integer = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });

  it('equal fractions are equal however they are scaled', () => {
    fc.assert(
      fc.property(integer, fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 999 }), (top, bottom, factor) => {
        const one = writtenNumber(`\\frac{${top}}{${bottom}}`);
        const other = writtenNumber(`\\frac{${top * BigInt(factor)}}{${bottom * factor}}`);
        expect(one && other && sameWrittenNumber(one, other)).toBe(true);
      }),
    );
  });

  it('different integers are never the same, whatever their size', () => {
    fc.assert(
      fc.property(integer, fc.bigInt({ min: 1n, max: 1000n }), (number, more) => {
        const [one, other] = [writtenNumber(String(number)), writtenNumber(String(number + more))];
        expect(one && other && sameWrittenNumber(one, other)).toBe(false);
      }),
    );
  });

  it('a decimal equals the fraction over the power of ten', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 12 }), (digits, places) => {
        const text = String(digits).padStart(places + 1, '0');
        const decimal = writtenNumber(`${text.slice(0, -places)}.${text.slice(-places)}`);
        const fraction = writtenNumber(`${digits}/1${'0'.repeat(places)}`);
        expect(decimal && fraction && sameWrittenNumber(decimal, fraction)).toBe(true);
      }),
    );
  });
});
