import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECTIONS } from '../../backend/lm/adapter/projections.ts';
import { LocalModel } from '../../backend/lm/local-model.ts';
import { ADAMW_DEFAULTS } from '../../backend/lm/trainer/adamw.ts';
import { sabotagedEngine } from '../../backend/lab/gym/sabotage.ts';
import type { Example, ForwardBackwardOutput, SampledCompletion, TrainEngine } from '../../backend/train/engines/engine.ts';
import { grpoStep, type GrpoOptions, type JudgedCompletion, type StepMetrics } from '../../backend/train/grpo/grpo-step.ts';
import { LocalEngine } from '../../backend/train/engines/local-engine.ts';
import type { RolloutOutcome } from '../../backend/train/grpo/reward.ts';
import { modelFolder } from '../golden/golden.ts';

let folder: string;
let model: LocalModel;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'grpo-'));
  model = await LocalModel.open({
    settings: { folder: modelFolder('qwen2-tiny'), device: 'cpu', precision: 'full', adapters: true, trainable: 'adapter', storage: folder },
    device: 'cpu',
    deviceReasons: [],
    threads: 1,
  });
});
afterAll(async () => {
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

const MAX_TOKENS = 8;
const GROUP = 16;
const OPTIONS: GrpoOptions = {
  loss: { type: 'grpo', clip: { low: 0.2, high: 0.2 }, klCoefficient: 0, importanceRatioCap: 2, temperature: 1, maxCompletionLength: MAX_TOKENS },
  reward: { judgedBy: 'score', passes: 'wrong', costWeight: 0 },
  revisionWeight: 0.25,
  advantage: { scale: 'group' },
  updates: 1,
  maskTruncated: false,
  gradientClip: 1,
};

/** A task that a tiny model can learn in seconds: to write tokens from the lower half of its vocabulary. */
const lowTokens = ({ tokens }: SampledCompletion): number => tokens.filter((token) => token < 416).length / Math.max(1, tokens.length);

const judgedBy = (score: (completion: SampledCompletion) => number) => (completion: SampledCompletion): RolloutOutcome =>
  ({ kind: 'judged', verified: false, score: score(completion), costUsd: 0 });

async function train(
  name: string, steps: number, judge: (completion: SampledCompletion) => RolloutOutcome, options = OPTIONS,
): Promise<StepMetrics[]> {
  await model.startTraining({ adapter: { rank: 8, alpha: 16, projections: PROJECTIONS, seed: 1 }, optimizer: ADAMW_DEFAULTS });
  const engine = new LocalEngine(model, { versions: path.join(folder, name) });
  const told: StepMetrics[] = [];
  for (let step = 0; step < steps; step += 1) {
    const groups: JudgedCompletion[][] = [];
    for (const [index, question] of ['Sort a list.', 'Add two numbers.'].entries()) {
      const seeds = Array.from({ length: GROUP }, (_, sample) => 1_000 * step + 100 * index + sample);
      const completions = await engine.sample({ messages: [{ role: 'user', content: question }], maxTokens: MAX_TOKENS, temperature: 1, seeds });
      groups.push(completions.map((completion) => ({ completion, outcome: judge(completion) })));
    }
    told.push(await grpoStep(engine, groups, options, { learningRate: 0.01 }));
    await engine.saveForSampler(`step-${step}`);
  }
  return told;
}

const meanOf = (metrics: readonly StepMetrics[], name: string): number => metrics.reduce((sum, told) => sum + told[name]!, 0) / metrics.length;

describe('a step of GRPO', { timeout: 120_000 }, () => {
  it('makes what was rewarded likelier, and with advantages that are flipped less likely', async () => {
    const up = await train('up', 12, judgedBy(lowTokens));
    const down = await train('down', 12, judgedBy((completion) => 1 - lowTokens(completion)));
    const [start, end] = [meanOf(up.slice(0, 2), 'reward'), meanOf(up.slice(-3), 'reward')];
    expect(end - start).toBeGreaterThan(0.1);
    // What the second run was not rewarded for.
    expect(1.5 - meanOf(down.slice(-3), 'reward')).toBeLessThan(start - 0.1);
  });

  it('tells how far the sampler is from the trainer, which is next to nothing, by the names that TRL has', async () => {
    const [told] = await train('told', 1, judgedBy(lowTokens), { ...OPTIONS, loss: { ...OPTIONS.loss, klCoefficient: 0.1 } });
    expect(told).toMatchObject({
      'completions/max_length': MAX_TOKENS, 'completions/clipped_ratio': expect.any(Number), format_rate: 1, errored_rollouts: 0,
      frac_reward_zero_std: 0, learning_rate: 0.01, examples: 2 * GROUP,
    });
    expect(told!['sampling/sampling_logp_difference/max']).toBeLessThan(1e-4);
    expect(told!['sampling/importance_sampling_ratio/mean']).toBeCloseTo(1, 4);
    // The adapter changes nothing yet.
    expect(told!['kl']).toBeLessThan(1e-6);
    expect(told!['entropy']).toBeGreaterThan(0);
    expect(told!['grad_norm']).toBeGreaterThan(0);
  });

  it('learns nothing of rollouts of which nothing is known, and of groups that are all alike', async () => {
    const [unknown] = await train('unknown', 1, () => ({ kind: 'infrastructure' }));
    expect(unknown).toMatchObject({ examples: 0, grad_norm: 0, errored_rollouts: 2 * GROUP, frac_reward_zero_std: 1, reward: 0 });
    const [alike] = await train('alike', 1, judgedBy(() => 1));
    expect(alike).toMatchObject({ examples: 0, grad_norm: 0, frac_reward_zero_std: 1, reward: 1 });
    let seen = 0;
    const [half] = await train('half', 1, (completion) => ((seen += 1) % 2 === 0 ? { kind: 'infrastructure' } : judgedBy(lowTokens)(completion)));
    expect(half).toMatchObject({ errored_rollouts: GROUP });
    expect(half!['examples']).toBe(GROUP);
  });

  it('says what the plans of groups that teach nothing have in common', async () => {
    const engine = new LocalEngine(model, { versions: path.join(folder, 'none') });
    const told = async (outcomes: readonly RolloutOutcome[], finishReason: SampledCompletion['finishReason'] = 'stop', options: Partial<GrpoOptions> = {}): Promise<StepMetrics> => {
      const completion: SampledCompletion = { text: 'a', promptTokens: [1], tokens: [2], logprobs: [-1], finishReason };
      const groups = [0, 1].map(() => outcomes.map((outcome) => ({ completion, outcome })));
      return await grpoStep(engine, groups, { ...OPTIONS, reward: { judgedBy: 'verified', passes: 'wrong', costWeight: 0 }, ...options }, { learningRate: 0.01 });
    };
    const [right, passes] = [{ kind: 'judged', score: 1, costUsd: 0, verified: true }, { kind: 'judged', score: 1, costUsd: 0, verified: false, passes: true }] as const;
    const [invalid, unknown] = [{ kind: 'unparseable' }, { kind: 'infrastructure' }] as const;
    expect(await told([right, right])).toMatchObject({ examples: 0, 'flat_groups/solved': 2, 'flat_groups/unsolved': 0 });
    expect(await told([passes, passes])).toMatchObject({ examples: 0, 'flat_groups/unsolved': 2, 'flat_groups/solved': 0 });
    expect(await told([invalid, unknown])).toMatchObject({ examples: 0, 'flat_groups/invalid': 2 });
    expect(await told([unknown, unknown])).toMatchObject({ examples: 0, 'flat_groups/unknown': 2 });
    expect(await told([invalid, invalid], 'length')).toMatchObject({ examples: 0, frac_reward_zero_std: 1, 'flat_groups/cut-off': 2, 'flat_groups/invalid': 0 });
    // Not flat: their plans are left out although their rewards differ.
    expect(await told([right, passes], 'length', { maskTruncated: true })).toMatchObject({ examples: 0, frac_reward_zero_std: 0, 'flat_groups/cut-off': 2, 'flat_groups/unsolved': 0 });
  });

  it('teaches by plans that were not carried out, too, and counts each that was for those that were as likely to be', async () => {
    await model.startTraining({ adapter: { rank: 8, alpha: 16, projections: PROJECTIONS, seed: 1 }, optimizer: ADAMW_DEFAULTS });
    const engine = new LocalEngine(model, { versions: path.join(folder, 'some') });
    const [likely, other, third] = [2, 3, 4].map((token): SampledCompletion => ({ text: 'a', promptTokens: [1], tokens: [token], logprobs: [-1], finishReason: 'stop' }));
    const right: RolloutOutcome = { kind: 'judged', score: 1, costUsd: 0, verified: true };
    const wrong: RolloutOutcome = { ...right, score: 0, verified: false };
    const told = await grpoStep(engine, [[
      { completion: likely!, outcome: right, expected: { chance: 0.9, odds: 0.25 } },
      { completion: other!, outcome: wrong, expected: { chance: 0.5, odds: 0.75 } },
      { completion: third!, outcome: undefined, expected: { chance: 0.1, odds: 0.5 } },
    ]], OPTIONS, { learningRate: 0.01 });
    expect(told).toMatchObject({ examples: 3, verified_rate: expect.closeTo(4 / (4 + 4 / 3)), format_rate: 1, expected_reward_error: expect.closeTo((0.05 ** 2 + 0.25 ** 2) / 2) });
    // Nothing was judged, and the same is expected of all.
    const flat = await grpoStep(engine, [[likely!, other!].map((completion) => ({ completion, outcome: undefined, expected: { chance: 0.5, odds: 1 } }))], OPTIONS, { learningRate: 0.01 });
    expect(flat).toMatchObject({ examples: 0, frac_reward_zero_std: 1 });
  });

  it('makes several updates of one batch, whose ratios are relative to the policy before the first', async () => {
    await model.startTraining({ adapter: { rank: 8, alpha: 16, projections: PROJECTIONS, seed: 1 }, optimizer: ADAMW_DEFAULTS });
    const engine = new LocalEngine(model, { versions: path.join(folder, 'updates') });
    const batches: (readonly Example[])[] = [];
    const outputs: ForwardBackwardOutput[] = [];
    const watched: TrainEngine = {
      ...sabotagedEngine(engine, undefined),
      forwardBackward: async (loss, batch, signal) => {
        batches.push(batch);
        outputs.push(await engine.forwardBackward(loss, batch, signal));
        return outputs.at(-1)!;
      },
    };
    const completions = await engine.sample({
      messages: [{ role: 'user', content: 'Sort a list.' }], maxTokens: MAX_TOKENS, temperature: 1, seeds: Array.from({ length: GROUP }, (_, sample) => sample),
    });
    const group = completions.map((completion) => ({ completion, outcome: judgedBy(lowTokens)(completion) }));
    const told = await grpoStep(watched, [group], { ...OPTIONS, updates: 3 }, { learningRate: 0.05 });
    expect(batches.map(({ length }) => length)).toEqual([6, 5, 5]);
    expect(new Set(batches.flat().map(({ tokens }) => tokens)).size).toBe(GROUP);
    const largest = outputs.map(({ logprobs }, update) =>
      Math.max(...logprobs.flatMap((row, index) => row.map((logprob, token) => Math.abs(logprob - batches[update]![index]!.oldLogprobs![token]!)))));
    expect(largest[0]).toBeLessThan(1e-4);
    expect(largest[1]).toBeGreaterThan(0.01);
    expect(told['clip_ratio/region_mean']).toBeGreaterThan(0);
    expect(told['sampling/sampling_logp_difference/max']).toBeLessThan(1e-4);
    expect(told).toMatchObject({ examples: GROUP });
  });

  it('leaves out completions that were cut off, where that is asked for', async () => {
    const [told] = await train('cut', 1, judgedBy(lowTokens), { ...OPTIONS, maskTruncated: true });
    expect(told!['examples']).toBe(Math.round(2 * GROUP * (1 - told!['completions/clipped_ratio']!)));
    expect(told!['examples']).toBeLessThan(2 * GROUP);
  });
});
