import { describe, expect, it } from 'vitest';
import type { RoundView, RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { NOTHING_SPENT } from '../../backend/protocol/run-snapshot.ts';
import { workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import type { Expectation } from '../../backend/records/worker-records.ts';
import { standInFor } from '../../backend/solve/stand-in.ts';

const priced = (usd: number): Pick<WorkerConfig, 'price'> => ({ price: { inputPerMillion: usd, outputPerMillion: usd } });
const worker = (id: string, more: object = {}): WorkerConfig => workerConfigSchema.parse({
  id, provider: 'openai-compatible', baseUrl: `https://${id}.example/v1`, model: `model-of-${id}`, ...priced(1), ...more,
});
/** What is expected of workers, by id; a half of the others. */
const expecting = (shares: Readonly<Record<string, number>>): Expectation => ({ id }) => shares[id] ?? 0.5;

type Failed = NonNullable<RunSnapshot['failedWorkers']>[number];
const failed = (of: number, kind: string, step = 0, round = 0): Failed => ({ worker: of, round, step, failure: failure(kind) });
const failure = (kind: string) => ({ kind, message: `It is ${kind}.`, retryable: false });

/** The id of who stands in for the first worker of the pool at the first step of a round. */
function chosen(pool: readonly WorkerConfig[], { kind = 'overloaded', expected = expecting({}), failedWorkers, handedOn }: {
  readonly kind?: string;
  readonly expected?: Expectation;
  readonly failedWorkers?: readonly Failed[];
  readonly handedOn?: RoundView['steps'][number]['handedOn'];
} = {}): string | undefined {
  const step = { index: 0, worker: 0, subtask: 'Look.', reads: [], readsPreviousRound: false, state: 'running' as const, spent: NOTHING_SPENT, ...(handedOn && { handedOn }) };
  const rounds = [{ index: 0, rejections: [], kept: false, steps: [step] }];
  const ordinal = standInFor({ pool, rounds, ...(failedWorkers && { failedWorkers }) }, { round: 0, step: 0 }, failure(kind), expected);
  return ordinal === undefined ? undefined : pool[ordinal]?.id;
}

describe('who stands in for a worker', () => {
  it('is the one of whom most is expected in the role of the step', () => {
    const pool = ['a', 'b', 'c', 'd'].map((id) => worker(id));
    expect(chosen(pool, { expected: expecting({ b: 0.3, d: 0.7 }) })).toBe('d');
    expect(chosen(pool, { expected: expecting({ b: 0.3, d: 0.3 }) })).toBe('c');
    // "Look." asks for nothing that is known as a plan or a check.
    expect(chosen(pool, { expected: ({ id }, role) => Number(id === (role === 'write' ? 'b' : 'd')) })).toBe('b');
  });

  it('costs about as much where the records are equal: neither the dearest nor the cheapest, and no unknown price', () => {
    const pool = [worker('a', priced(3)), worker('cheap', priced(0.1)), worker('dear', priced(75)), worker('near', priced(5)), worker('unknown', { price: undefined })];
    expect(chosen(pool)).toBe('near');
    expect(chosen([worker('a', { price: undefined }), ...pool.slice(1)])).toBe('unknown');
  });

  it('is at another server where one can be had, whatever the records say', () => {
    const pool = [worker('a'), worker('b', { baseUrl: 'https://a.example/v1' }), worker('c')];
    expect(chosen(pool, { expected: expecting({ b: 0.9 }) })).toBe('c');
    expect(chosen(pool.slice(0, 2))).toBe('b');
  });

  it.each(['not-found', 'permission', 'context-overflow', 'model-unusable'])('is not the same model at the same server after %s', (kind) => {
    const same = worker('b', { baseUrl: 'https://a.example/v1', model: 'model-of-a' });
    expect(chosen([worker('a'), same], { kind })).toBeUndefined();
    expect(chosen([worker('a'), same])).toBe('b');
  });

  it('did not fail at this step, nor in this run for what a person has to mend', () => {
    const pool = ['a', 'b', 'c'].map((id) => worker(id));
    expect(chosen(pool, { failedWorkers: [failed(1, 'overloaded')] })).toBe('c');
    expect(chosen(pool, { failedWorkers: [failed(1, 'overloaded', 3)] })).toBe('b');
    expect(chosen(pool, { failedWorkers: [failed(1, 'payment', 3, 1)] })).toBe('c');
    expect(chosen(pool, { failedWorkers: [failed(1, 'payment', 3), failed(2, 'overloaded')] })).toBeUndefined();
  });

  it('is the plan\'s own choice where that may be asked again', () => {
    const pool = ['a', 'b', 'c'].map((id) => worker(id));
    expect(chosen(pool, { expected: expecting({ b: 0.9 }), handedOn: [{ worker: 2, failure: failure('payment') }] })).toBe('c');
  });

  it('is a simulation for a simulation only', () => {
    const simulated = { simulated: true };
    expect(chosen([worker('a'), worker('b', simulated)])).toBeUndefined();
    expect(chosen([worker('a', simulated), worker('b'), worker('c', simulated)])).toBe('c');
  });
});
