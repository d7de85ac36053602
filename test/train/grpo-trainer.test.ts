import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECTIONS } from '../../backend/lm/adapter/projections.ts';
import { LocalModel } from '../../backend/lm/local-model.ts';
import { ADAMW_DEFAULTS } from '../../backend/lm/trainer/adamw.ts';
import { draw, shuffled, tasksOfStep } from '../../backend/train/statistics/draws.ts';
import type { Gatherer } from '../../backend/train/grpo/gatherer.ts';
import { type GrpoTrainerOptions, trainWithGrpo } from '../../backend/train/grpo/grpo-trainer.ts';
import { LocalEngine } from '../../backend/train/engines/local-engine.ts';
import { OtherConfigurationError, CheckpointStore } from '../../backend/train/grpo/checkpoint-store.ts';
import type { Critic, TaskGroup } from '../../backend/train/grpo/critic.ts';
import type { JudgedPlan } from '../../backend/records/plan-value.ts';
import type { SampledCompletion } from '../../backend/train/engines/engine.ts';
import { modelFolder } from '../golden/golden.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'grpo-trainer-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const OPTIONS: GrpoTrainerOptions = {
  steps: 4,
  tasksPerStep: 2,
  groupSize: 6,
  rounds: 1,
  maxTokens: 6,
  seed: 5,
  learningRate: { peak: 0.01, warmup: 0.25, schedule: 'cosine' },
  loss: { type: 'grpo', clip: { low: 0.2, high: 0.2 }, klCoefficient: 0, importanceRatioCap: 0, temperature: 1, maxCompletionLength: 6 },
  reward: { judgedBy: 'score', passes: 'wrong', costWeight: 0 },
  revisionWeight: 0.25,
  advantage: { scale: 'group' },
  updates: 1,
  maskTruncated: false,
  gradientClip: 1,
};

const TASKS = ['Sort a list.', 'Add two numbers.', 'Parse a date.'];

const lowTokens: Gatherer<string> = {
  prompt: (content) => ({ messages: [{ role: 'user', content }] }),
  outcomes: async (_, plans) => plans.map(({ completion: { tokens } }) => ({
    kind: 'judged', verified: false, score: tokens.filter((token) => token < 416).length / Math.max(1, tokens.length), costUsd: 0,
  })),
};

/** Expects of a plan the share that low tokens had in those that were carried out so far. */
class LowTokensCritic implements Critic<string> {
  judged: readonly JudgedPlan[];

  constructor(judged: readonly JudgedPlan[] = []) {
    this.judged = judged;
  }

  chances(_task: string, completions: readonly SampledCompletion[]): readonly (number | undefined)[] {
    const usual = (1 + this.judged.filter(({ isRight }) => isRight).length) / (2 + this.judged.length);
    return completions.map(({ tokens }) => (tokens.length === 0 ? undefined : usual));
  }

  learn(step: readonly TaskGroup<string>[]): void {
    const judged = step.flatMap(({ group }) => group.flatMap(({ outcome }): JudgedPlan[] => (outcome?.kind === 'judged' ? [{ kind: 'low', steps: [], isRight: outcome.score > 0.5 }] : [])));
    this.judged = [...judged.toReversed(), ...this.judged];
  }
}

/** One process's life: opens the model, goes on from the checkpoint, and trains until it is told to stop. */
async function live(name: string, gatherer = lowTokens, options = OPTIONS) {
  const model = await LocalModel.open({
    settings: { folder: modelFolder('qwen2-tiny'), device: 'cpu', precision: 'full', adapters: true, trainable: 'adapter', storage: folder },
    device: 'cpu',
    deviceReasons: [],
    threads: 1,
  });
  try {
    const store = new CheckpointStore(path.join(folder, name), { configuration: JSON.stringify(options) });
    const from = await store.resume();
    await model.startTraining({
      adapter: { rank: 4, alpha: 8, projections: PROJECTIONS, seed: 2 }, optimizer: ADAMW_DEFAULTS, resume: from?.engineState,
    });
    const sampler = from && store.versionName(from.step);
    const engine = new LocalEngine(model, { versions: store.versions, latest: sampler });
    const steps: number[] = [];
    const onStep = (step: number): void => void steps.push(step);
    const { signal } = new AbortController();
    const critic = new LowTokensCritic(from?.judged);
    const unpaid: string[] = [];
    const onUnpaid = (update: number, of: number): void => void unpaid.push(`${update} of ${of}`);
    const metrics = await trainWithGrpo({ engine, store, tasks: TASKS, gatherer, critic, onStep, onUnpaid }, options, { from, signal });
    return { metrics, steps, judged: critic.judged, unpaid };
  } finally {
    await model.close();
  }
}

const weightsOf = (name: string, step = OPTIONS.steps): Promise<Buffer> =>
  readFile(path.join(folder, name, 'versions', `step-00000${step}`, 'adapter_model.safetensors'));

describe('a training with GRPO', { timeout: 120_000 }, () => {
  it('that is interrupted in the middle of a step ends as one that was not, bit for bit', async () => {
    const whole = await live('whole');
    let asked = 0;
    const interrupted: Gatherer<string> = {
      ...lowTokens,
      outcomes: async (...call) => {
        asked += 1;
        if (asked === 6) throw new Error('The machine was turned off.');
        return await lowTokens.outcomes(...call);
      },
    };
    await expect(live('interrupted', interrupted)).rejects.toThrow('The machine was turned off.');
    const resumed = await live('interrupted');
    expect(resumed.steps).toEqual([3, 4]);
    expect(resumed.metrics).toEqual(whole.metrics);
    expect(await weightsOf('interrupted')).toEqual(await weightsOf('whole'));
    expect((await weightsOf('whole', 3)).equals(await weightsOf('whole'))).toBe(false);
  });

  it('that carries out some plans of a step learns from all of them, also between steps, and ends so after an interruption, too', async () => {
    const options = { ...OPTIONS, carriedOut: 8, unpaidUpdates: 2 };
    const carried: number[] = [];
    const counting: Gatherer<string> = {
      ...lowTokens,
      outcomes: async (task, plans, at, signal) => {
        carried[at.step] = (carried[at.step] ?? 0) + plans.length;
        return await lowTokens.outcomes(task, plans, at, signal);
      },
    };
    const whole = await live('some', counting, options);
    expect(carried).toEqual([8, 8, 8, 8]);
    expect(whole.unpaid).toEqual(['1 of 1', '1 of 2', '2 of 2', '1 of 2', '2 of 2', '1 of 2', '2 of 2']);
    expect(whole.judged).toHaveLength(32);
    expect(whole.metrics[0]).toMatchObject({ examples: 12, expected_reward_error: expect.any(Number), 'unpaid/updates': 1 });
    expect(whole.metrics[1]).toMatchObject({ 'unpaid/updates': 2, 'unpaid/expected_reward': expect.any(Number) });
    expect(await readdir(path.join(folder, 'some', 'versions'))).toEqual([1, 2, 3, 4].map((step) => `step-00000${step}`));
    const interrupted: Gatherer<string> = {
      ...lowTokens,
      outcomes: async (task, plans, at, signal) => {
        if (at.step === 2) throw new Error('The machine was turned off.');
        return await lowTokens.outcomes(task, plans, at, signal);
      },
    };
    await expect(live('some, interrupted', interrupted, options)).rejects.toThrow('The machine was turned off.');
    const resumed = await live('some, interrupted', lowTokens, options);
    expect(resumed).toMatchObject({ steps: [3, 4], metrics: whole.metrics, judged: whole.judged });
    expect(await weightsOf('some, interrupted')).toEqual(await weightsOf('some'));
  });

  it('has one half of a group revise the other half\'s plans, each its own, and blends their rewards', async () => {
    const asked: { sample: number; revises: boolean }[] = [];
    const revising: Gatherer<string> = {
      prompt: lowTokens.prompt,
      // Of the second plan no answer came.
      revisionPrompt: (task, _at, { sample }) => (sample === 1 ? undefined : { messages: [{ role: 'user', content: `Again: ${task}` }] }),
      outcomes: async (_task, plans) => {
        asked.push(...plans.map(({ sample, revises }) => ({ sample, revises: revises !== undefined })));
        return plans.map(({ revises }, index) => ({ kind: 'judged', verified: false, score: revises ? 1 : index / 2, costUsd: 0 }));
      },
    };
    const { metrics } = await live('revised', revising, { ...OPTIONS, steps: 1, tasksPerStep: 1, rounds: 2 });
    expect(asked).toEqual([
      ...[0, 1, 2].map((sample) => ({ sample, revises: false })), ...[0, 2].map((sample) => ({ sample, revises: true })),
    ]);
    // The first round: (0.5, 0.75, 1), of which the first and the last are a quarter their revision's 1; the second: 1 and 1.
    const first = [0.75 * 0.5 + 0.25, 0.75, 1];
    expect(metrics[0]!['reward']).toBeCloseTo([...first, 1, 1].reduce((a, b) => a + b, 0) / 5, 6);
    expect(metrics[0]).toMatchObject({ examples: 3, frac_reward_zero_std: 0.5 });
  });

  it('does nothing more when it is done, keeps its newest checkpoints, and clears away what is half-written', async () => {
    const checkpoints = path.join(folder, 'whole', 'checkpoints');
    await mkdir(path.join(checkpoints, 'step-000009.tmp'));
    await mkdir(path.join(folder, 'whole', 'versions', 'step-000009'));
    const again = await live('whole');
    expect(again.steps).toEqual([]);
    expect(again.metrics).toHaveLength(OPTIONS.steps);
    expect((await readdir(checkpoints)).sort()).toEqual(['step-000003', 'step-000004']);
    expect((await readdir(path.join(folder, 'whole', 'versions'))).sort()).toEqual(['step-000001', 'step-000002', 'step-000003', 'step-000004']);
  });

  it('refuses to go on with another configuration, and from a checkpoint that is damaged', async () => {
    await expect(live('whole', lowTokens, { ...OPTIONS, groupSize: 8 })).rejects.toThrow(OtherConfigurationError);
    await writeFile(path.join(folder, 'whole', 'checkpoints', 'step-000004', 'checkpoint.json'), '{"format":1,');
    await expect(live('whole')).rejects.toThrow(/step-000004 cannot be read: remove it/);
  });
});

describe('what a training draws', () => {
  it('follows from the seed and the purpose alone', () => {
    expect(draw(1, 'plan', 2, 3)).toBe(draw(1, 'plan', 2, 3));
    const drawn = new Set([draw(1, 'a'), draw(2, 'a'), draw(1, 'b'), draw(1, 'a', 0), draw(1, 'a', 1)]);
    expect(drawn.size).toBe(5);
    expect(shuffled([1, 2, 3, 4, 5], 1, 'x')).toEqual(shuffled([1, 2, 3, 4, 5], 1, 'x'));
  });

  it('asks every question once before any comes again, and leaves none out', () => {
    const asked = Array.from({ length: 15 }, (_, step) => tasksOfStep(['a', 'b', 'c', 'd', 'e'], { seed: 3, step, count: 2 })).flat();
    for (let round = 0; round < 6; round += 1) expect(asked.slice(5 * round, 5 * round + 5).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(asked.slice(0, 5)).not.toEqual(asked.slice(5, 10));
  });
});
