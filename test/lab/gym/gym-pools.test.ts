import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../backend/simulator/families/family.ts';
import { randomPool, TRAINING_POOL, TRAINING_ROSTER, unseenPool } from '../../../backend/lab/gym/gym-pools.ts';
import type { SimulatedWorker } from '../../../backend/simulator/pool.ts';

const names = (pool: readonly SimulatedWorker[]): string[] => pool.map(({ name }) => name);

describe('pools of the gym', () => {
  it('hold workers that call themselves simulated and have names of their own', () => {
    const all = [...TRAINING_POOL, ...TRAINING_ROSTER, ...unseenPool(1), ...unseenPool(2)];
    expect(names(all).every((name) => name.startsWith('sim-'))).toBe(true);
    expect(new Set(names(all)).size).toBe(all.length);
  });

  it('are the same for the same seed', () => {
    expect(randomPool(4)).toEqual(randomPool(4));
    expect(names(randomPool(4))).not.toEqual(names(randomPool(5)));
    expect(unseenPool(4)).toEqual(unseenPool(4));
  });

  it('are drawn from the roster in the size that is asked for', () => {
    for (const size of [1, 3, 7]) {
      const pool = randomPool(1, size);
      expect(new Set(names(pool)).size).toBe(size);
      expect(pool.every((worker) => TRAINING_ROSTER.includes(worker))).toBe(true);
    }
  });

  it('have a planner, a reviewer and a specialist that no training has seen', () => {
    for (const seed of [1, 2, 3]) {
      const pool = unseenPool(seed);
      const most = (role: 'plan' | 'write' | 'check'): number =>
        Math.max(...pool.flatMap(({ skills }) => KINDS.map((kind) => skills[kind][role])));
      expect([most('plan'), most('write'), most('check')].every((skill) => skill > 0.85)).toBe(true);
      expect(pool.some(({ name }) => names(TRAINING_ROSTER).includes(name))).toBe(false);
    }
  });

  it('are described truly: who is said to write something well can', () => {
    const topics = { strings: 'text and letters', numbers: 'integers and divisors', parsing: 'expressions and tokens',
      intervals: 'ranges and spans',
      data: 'records and rows', machines: 'instructions and devices' };
    for (const { description, skills } of [...TRAINING_POOL, ...TRAINING_ROSTER, ...unseenPool(1)]) {
      expect(description.length).toBeLessThanOrEqual(400);
      for (const kind of KINDS) {
        if (description.includes(topics[kind])) expect(Math.max(...Object.values(skills[kind]))).toBeGreaterThan(0.77);
      }
    }
  });
});
