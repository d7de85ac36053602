import { describe, expect, it } from 'vitest';
import { alone, attemptsAndJudge, planWriteCheck } from '../../backend/eval/plans.ts';
import { planRunner } from '../../backend/eval/execute-on-task.ts';
import { PlanNotRunError, type EvalTask } from '../../backend/eval/run-plan.ts';
import { runPlanInProcess } from '../../backend/lab/gym/run-plan-in-process.ts';
import { runPlanOnWire } from '../../backend/eval/run-plan-on-wire.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import { knownGrader } from '../../backend/lab/gym/gym-grades.ts';
import { TRAINING_POOL } from '../../backend/lab/gym/gym-pools.ts';
import { GymBook, gymTasks } from '../../backend/lab/gym/gym-tasks.ts';
import { gymRule } from '../../backend/lab/gym/gym-worker.ts';
import { SimulatorServer } from '../../backend/simulator/server.ts';
import { infrastructureGrade } from '../../backend/verify/graders/grader.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { poolOf } from './pool.ts';

const REPLY = { text: '', costUsd: 0, usage: NO_USAGE, seconds: 0 };
const tasks = gymTasks({ seed: 31, split: 'train', count: 12 });
const judged: EvalTask[] = tasks.map((task) => ({ ...task, context: '', grader: knownGrader(task) }));
const rule = gymRule(new GymBook(tasks));
const signal = new AbortController().signal;

describe('a plan of the gym', () => {
  it('gives the same answers at the same cost over the wire as without it', async () => {
    const server = await SimulatorServer.start({ seed: 5, latency: 0, workers: TRAINING_POOL, rule });
    try {
      const pool = server.workers().map((worker) => workerConfigSchema.parse(worker));
      const onWire = runPlanOnWire(new WorkerCaller({ limits: new ProviderLimits({ workers: pool }),
        prices: await loadPrices() }));
      const inProcess = runPlanInProcess({ seed: 5, workers: TRAINING_POOL, rule });
      for (const plan of [alone(3), planWriteCheck(0, 1, 2), attemptsAndJudge([0, 1, 2, 3, 4], 2)]) {
        for (const [index, task] of judged.entries()) {
          const wired = await onWire(task, plan, { pool, sample: index, signal });
          const quick = await inProcess(task, plan, { pool, sample: index, signal });
          expect(wired).toEqual({ ...quick, seconds: expect.any(Number), costUsd: expect.closeTo(quick.costUsd, 9) as number });
        }
      }
    } finally {
      await server.close();
    }
  });

  it('is another run with another sample, and the same with the same', async () => {
    const run = runPlanInProcess({ seed: 5, workers: TRAINING_POOL, rule });
    const pool = poolOf(TRAINING_POOL);
    const answers = (sample: number): Promise<string[]> =>
      Promise.all(judged.map(async (task) => (await run(task, alone(1), { pool, sample, signal })).answer));
    expect(await answers(1)).toEqual(await answers(1));
    expect(await answers(1)).not.toEqual(await answers(2));
  });

  it('has no result if a worker or the machine failed', async () => {
    const [task] = judged as [EvalTask];
    const pool = poolOf(TRAINING_POOL);
    const failing = planRunner(() => Promise.reject(new Error('The server is down.')));
    await expect(failing(task, alone(0), { pool, sample: 0, signal })).rejects.toThrow(PlanNotRunError);
    const unjudged = { ...task, grader: { grade: () => Promise.resolve(infrastructureGrade('There is no sandbox.')) } };
    const working = planRunner(() => Promise.resolve({ ...REPLY, text: 'x', costUsd: 0.5 }));
    await expect(working(unjudged, alone(0), { pool, sample: 0, signal })).rejects.toMatchObject({ name: 'PlanNotRunError',
      costUsd: 0.5 });
  });

  it('costs the sum of its steps, and ends with the last step', async () => {
    const run = planRunner(({ id }) => Promise.resolve({ ...REPLY, text: id, costUsd: 1 }));
    const pool = poolOf(TRAINING_POOL);
    expect(await run(judged[0] as EvalTask, planWriteCheck(0, 1, 2), { pool, sample: 0, signal })).toMatchObject({ costUsd: 3,
      answer: 'sim-clover' });
  });
});
