import { describe, expect, it } from 'vitest';
import { microBatches as divided } from '../../../backend/lm/trainer/micro-batches.ts';

/** Rows as [prompt, tokens of the completion]; a prompt of one letter is so many tokens of its own as the number says. */
const rowsOf = (...rows: readonly (readonly [prompt: readonly number[], completion: number])[]) => ({
  sequences: rows.map(([prompt, completion]) => [...prompt, ...new Array<number>(completion).fill(0)]),
  promptLengths: rows.map(([prompt]) => prompt.length),
});

type Batch = Parameters<typeof divided>[0];

/** Of runs that cost so much by themselves that there are as few as can be, if nothing else is said. */
const microBatches = (batch: Batch, most: number, perRun = 1_000): number[][] => divided(batch, { most, perRun });

const A = [1, 1, 1, 1];
const B = [2, 2, 2, 2];

describe('micro-batches', () => {
  it('keep rows of one prompt together, which is counted once', () => {
    expect(microBatches(rowsOf([A, 2], [B, 2], [A, 2], [B, 2], [A, 2]), 10)).toEqual([[0, 2, 4], [1, 3]]);
  });

  it('are cut where a row more would be too many tokens, by the longest of its rows', () => {
    expect(microBatches(rowsOf([A, 1], [A, 3], [A, 3], [A, 1]), 10)).toEqual([[1, 2], [0, 3]]);
  });

  it('put rows that share no prompt together, each with its own, by the longest prompt and the longest completion', () => {
    const rows = rowsOf([[1], 5], [[2, 2, 2], 3], [[3], 1]);
    expect(microBatches(rows, 16)).toEqual([[0, 1], [2]]);
    expect(microBatches(rows, 15)).toEqual([[0], [1, 2]]);
  });

  it('are cut where padding would cost more than another run', () => {
    const rows = rowsOf([[1], 9], [[2], 8], [[3], 2], [[4], 1]);
    expect(microBatches(rows, 100, 20)).toEqual([[0, 1, 2, 3]]);
    expect(microBatches(rows, 100, 10)).toEqual([[0, 1], [2, 3]]);
  });

  it('weigh a prompt that is computed once more against the padding', () => {
    const rows = rowsOf([A, 9], [A, 1]);
    expect(microBatches(rows, 100, 3)).toEqual([[0], [1]]);
    expect(microBatches(rows, 100, 4)).toEqual([[0, 1]]);
  });

  it('give a row that is too long by itself a batch of its own, and it comes first', () => {
    expect(microBatches(rowsOf([A, 1], [B, 30], [A, 1]), 8)).toEqual([[1], [0, 2]]);
  });

  it('tell prompts apart by their tokens and by where they end', () => {
    expect(microBatches({ sequences: [[1, 2, 3], [1, 2, 3]], promptLengths: [1, 2] }, 100)).toEqual([[0, 1]]);
    expect(microBatches({ sequences: [[1, 23], [12, 3]], promptLengths: [2, 2] }, 3)).toEqual([[0], [1]]);
  });

  it('hold every row once', () => {
    const rows = rowsOf(...Array.from({ length: 50 }, (_, row) => [[A, B, [row + 3]][row % 3]!, row % 7] as const));
    expect(microBatches(rows, 20).flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, row) => row));
  });

  it('are none where there are no rows', () => {
    expect(microBatches(rowsOf(), 10)).toEqual([]);
  });
});
