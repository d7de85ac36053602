import { describe, expect, it } from 'vitest';
import { splitFiles } from '../../../backend/train/tasks/split-files.ts';

const FILES = Array.from({ length: 20 }, (_, index) => `f${index}`);
const SEEDS = [0, 1, 2, 3, 4];
const alone = FILES.map((file) => [file]);

describe('the split by file', () => {
  it.each(SEEDS)('holds out its share, and keeps together what a change touches (seed %i)', (seed) => {
    const changes = [...alone, ['f0', 'f1'], ['f2', 'f3', 'f4'], ['f4', 'f5'], ['f1', 'f6']];
    const splitOf = splitFiles(changes, { seed, heldOut: 0.3 });
    expect(FILES.filter((file) => splitOf([file]) === 'held-out')).toHaveLength(6);
    for (const change of changes) expect(splitOf(change)).toBe(splitOf(change.slice(0, 1)));
  });

  it.each(SEEDS)('stays one where changes tie every file to every other: those of both sides have none (seed %i)', (seed) => {
    const chain = FILES.slice(1).map((file, index) => [`f${index}`, file]);
    const splitOf = splitFiles([...alone, ...chain, FILES], { seed, heldOut: 0.3 });
    const held = new Set(FILES.filter((file) => splitOf([file]) === 'held-out'));
    expect(held.size).toBeGreaterThan(0);
    expect(held.size).toBeLessThanOrEqual(6);
    expect(splitOf(FILES)).toBeUndefined();
    for (const pair of chain) {
      const inHeld = pair.filter((file) => held.has(file)).length;
      expect(splitOf(pair)).toBe([`train`, undefined, 'held-out'][inHeld]);
    }
  });

  it('holds out one of two files, and none of one', () => {
    const splitOf = splitFiles([['a'], ['b'], ['a', 'b']], { seed: 1, heldOut: 0.3 });
    expect(new Set([splitOf(['a']), splitOf(['b'])])).toEqual(new Set(['train', 'held-out']));
    expect(splitOf(['a', 'b'])).toBeUndefined();
    expect(splitFiles([['a']], { seed: 1, heldOut: 0.3 })(['a'])).toBe('train');
  });
});
