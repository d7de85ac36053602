import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../backend/conductor/worker-digest.ts';
import { parsePlan } from '../../../backend/conductor/parse-plan.ts';
import { readRole } from '../../../backend/simulator/roles.ts';
import { exampleAt } from '../../../backend/lab/mini/examples.ts';

const SEED = 3;
const examples = Array.from({ length: 3_000 }, (_, index) => exampleAt(SEED, index));
const read = examples.map(({ input, text }) => ({ input, text, found: parsePlan(text, { workerCount: input.pool.length, round: input.rounds.length }) }));
const plans = read.flatMap(({ input, found }) => (found.kind === 'plan' ? [{ input, plan: found.plan }] : []));
const share = <T>(list: readonly T[], test: (entry: T) => boolean): number => list.filter(test).length / list.length;

describe('examples for conductor-mini', () => {
  it('are all valid plans, or keep the answer of a round before', () => {
    expect(read.filter(({ found }) => found.kind === 'rejected').map(({ text }) => text)).toEqual([]);
    expect(read.filter(({ found, input }) => found.kind === 'keep' && input.rounds.length === 0)).toEqual([]);
    expect(share(read, ({ found }) => found.kind === 'keep')).toBeGreaterThan(0.02);
  });

  it('follow from seed and number alone', () => {
    expect(exampleAt(SEED, 17)).toEqual(examples[17]);
    expect(exampleAt(SEED + 1, 17)).not.toEqual(examples[17]);
  });

  it('have workers with hands only where they are wanted, and are otherwise the same', () => {
    const withHands = examples.map((_, index) => exampleAt(SEED, index, { withHands: true }));
    expect(examples.filter(({ input }) => input.pool.some(({ hasHands }) => hasHands))).toEqual([]);
    const bare = (pool: (typeof examples)[number]['input']['pool']) => pool.map(({ description }) => description);
    expect(withHands.map(({ input }) => bare(input.pool))).toEqual(examples.map(({ input }) => bare(input.pool)));
    const some = share(withHands, ({ input }) => input.pool.some(({ hasHands }) => hasHands));
    expect(some).toBeGreaterThan(0.3);
    expect(some).toBeLessThan(0.5);
    for (const { input, messages } of withHands) {
      const isTold = input.pool.some(({ hasHands }) => hasHands);
      expect(/^(?:.*, )?hands\d/m.test(messages.find(({ content }) => content.includes('USER QUESTION'))?.content ?? '')).toBe(isTold);
    }
  });

  it('let workers with hands write and check more often than others, and plan as often', () => {
    const steps = Array.from({ length: 3_000 }, (_, index) => exampleAt(SEED, index, { withHands: true })).flatMap(({ input, text }) => {
      const found = parsePlan(text, { workerCount: input.pool.length, round: input.rounds.length });
      const handed = input.pool.filter(({ hasHands }) => hasHands).length / input.pool.length;
      if (found.kind !== 'plan' || handed === 0 || handed === 1) return [];
      return found.plan.modelIds.map((id, step) => ({ role: readRole(found.plan.subtasks[step] as string).role, over: Number(input.pool[id]?.hasHands ?? false) - handed }));
    });
    const over = (role: string): number => {
      const own = steps.filter((step) => step.role === role);
      return own.reduce((sum, step) => sum + step.over, 0) / own.length;
    };
    expect(over('write')).toBeGreaterThan(0.1);
    expect(over('check')).toBeGreaterThan(0.1);
    expect(Math.abs(over('plan'))).toBeLessThan(0.06);
  });

  it.each([1, 2, 3, 4, 5])('have plans of %i steps among them', (steps) => {
    expect(share(plans, ({ plan }) => plan.modelIds.length === steps)).toBeGreaterThan(0.05);
  });

  it('let read nothing, everything and steps by number', () => {
    const entries = plans.flatMap(({ plan }) => plan.accessList.slice(1));
    for (const kind of [(entry: unknown) => entry === 'all', (entry: unknown) => entry instanceof Array && entry.length === 0, (entry: unknown) => entry instanceof Array && entry.length > 0]) {
      expect(share(entries, kind)).toBeGreaterThan(0.1);
    }
  });

  it('use every worker of a pool about as often as the others', () => {
    const ofFive = plans.filter(({ input }) => input.pool.length === 5).flatMap(({ plan }) => plan.modelIds);
    for (const worker of [0, 1, 2, 3, 4]) expect(Math.abs(share(ofFive, (id) => id === worker) - 0.2)).toBeLessThan(0.05);
    expect(new Set(examples.map(({ input }) => input.pool.length))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8]));
  });

  it('mostly choose workers who are praised for the step', () => {
    for (const role of ['plan', 'write', 'check'] as const) {
      const fits = plans.flatMap(({ input, plan }) => {
        const praised = digestOf(input.question, input.pool)[role];
        if (praised.length === 0 || praised.length === input.pool.length) return [];
        return plan.modelIds.filter((_, step) => readRole(plan.subtasks[step] as string).role === role).map((worker) => praised.includes(worker));
      });
      expect(share(fits, Boolean)).toBeGreaterThan(0.6);
      expect(share(fits, Boolean)).toBeLessThan(0.95);
    }
  });

  it('have subtasks that workers understand: to plan, to write, to check', () => {
    const roles = new Map(['plan', 'write', 'check'].map((role) => [role, 0]));
    for (const subtask of plans.flatMap(({ plan }) => plan.subtasks)) {
      const { role, vague } = readRole(subtask);
      if (vague) expect(subtask).toMatch(/question|asked/);
      else roles.set(role, roles.get(role)! + 1);
    }
    for (const count of roles.values()) expect(count).toBeGreaterThan(plans.length / 3);
  });

  it('have prompts with and without context, descriptions, earlier rounds and rejected texts', () => {
    const tests: readonly ((example: (typeof examples)[number]) => boolean)[] = [
      ({ input }) => input.context !== '', ({ input }) => input.rounds.length > 0, ({ input }) => input.rejection !== undefined,
      ({ input }) => input.pool.every(({ description }) => !description), ({ input }) => input.pool.every(({ description }) => description),
    ];
    for (const test of tests) {
      expect(share(examples, test)).toBeGreaterThan(0.02);
      expect(share(examples, test)).toBeLessThan(0.9);
    }
  });
});
