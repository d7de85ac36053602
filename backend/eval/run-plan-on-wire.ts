import { randomUUID } from 'node:crypto';
import type { WorkerCaller } from '../workers/call-worker.ts';
import { WorkerError } from '../workers/errors.ts';
import type { KeySource } from '../workers/key-source.ts';
import type { AttemptLog, Ledger } from '../workers/limits/ledger.ts';
import { planRunner } from './execute-on-task.ts';
import type { RunPlan } from './run-plan.ts';

/** Simulated workers cost no real money, so no budget is reserved. */
const UNLIMITED: Ledger = { reserve: () => ({ id: randomUUID() }) };

const NO_KEYS: KeySource = {
  get: (name) => Promise.reject(new WorkerError({ kind: 'missing-key',
    message: `Simulated workers have no key, and "${name}" is asked for.` })),
  forget: () => {},
};

/** Runs plans with real calls over the wire. The cost includes failed attempts. */
export function runPlanOnWire(caller: Pick<WorkerCaller, 'call'>): RunPlan {
  return planRunner(async (worker, messages, sample, signal) => {
    let failedUsd = 0;
    const attempts: AttemptLog = {
      started: (_attempt, reserve) => reserve(),
      succeeded: () => {},
      failed: (_attempt, _failure, { cost }) => void (failedUsd += cost.usd ?? 0),
    };
    const { reply, spent } = await caller.call(
      worker, { messages, seed: sample }, { ledger: UNLIMITED, attempts, keys: NO_KEYS, signal, onText: () => {} },
    );
    return { text: reply.text, costUsd: failedUsd + (spent.cost.usd ?? 0), usage: spent.usage, seconds: spent.durationMs / 1_000 };
  });
}
