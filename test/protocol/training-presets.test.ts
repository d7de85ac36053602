import { describe, expect, it } from 'vitest';
import { trainingConfigSchema, trainingSchema } from '../../backend/protocol/training.ts';
import { rolloutsOf, someCarriedOut } from '../../backend/protocol/training-facts.ts';

describe('the preset of the paper', () => {
  it('has the figures of the paper, and for all else the usual defaults', () => {
    const { preset, ...config } = trainingConfigSchema.parse({ preset: 'paper' });
    const usual = trainingConfigSchema.parse({});
    expect(preset).toBe('paper');
    expect(config).toMatchObject({
      steps: 200, tasksPerStep: 4, groupSize: 64, carriedOut: 256, maxTokens: 1_024, temperature: 1, learningRate: { peak: 1e-6 }, loss: { divergence: 0, importanceLimit: 0 }, workers: { '*': { maxOutputTokens: 4_096 } },
    });
    expect(config.tasks).toEqual({ ...usual.tasks, project: false });
    expect(config.adapter).toEqual(usual.adapter);
  });

  it('yields to what is set, also where it is read again', () => {
    const given = { preset: 'paper', steps: 20, learningRate: { peak: 1e-5 }, tasks: { project: true } };
    const config = trainingConfigSchema.parse(given);
    expect(config).toMatchObject({ steps: 20, groupSize: 64, learningRate: { peak: 1e-5, warmup: 0.03 }, tasks: { project: true } });
    expect(trainingConfigSchema.parse(JSON.parse(JSON.stringify(config)))).toEqual(config);
  });

  it('is refused under another name, and with settings that are unknown', () => {
    for (const wrong of [{ preset: 'papers' }, { preset: 'toString' }, { preset: 'paper', step: 5 }]) expect(trainingConfigSchema.safeParse(wrong).success).toBe(false);
  });
});

describe('how many plans are carried out', () => {
  const config = trainingConfigSchema.parse({});

  it('is a quarter of those sampled, and all where there are two rounds or no more', () => {
    expect([someCarriedOut(config), rolloutsOf(config)]).toEqual([8, 400]);
    expect([someCarriedOut({ ...config, rounds: 2 }), rolloutsOf({ ...config, rounds: 2 })]).toEqual([undefined, 1_600]);
    expect([someCarriedOut({ ...config, tasksPerStep: 1 }), rolloutsOf({ ...config, tasksPerStep: 1 })]).toEqual([undefined, 400]);
  });

  it('is all of them in a training of an earlier version, which goes on', () => {
    const { carriedOut: _new, ...earlier } = config;
    const kept = trainingSchema.parse({ ...TRAINING, config: earlier });
    expect(someCarriedOut(kept.config)).toBeUndefined();
    expect(someCarriedOut(trainingSchema.parse({ ...TRAINING, config }).config)).toBe(8);
  });
});

const TRAINING = {
  trainingId: 't', workspace: '/app', conductor: 'tiny', model: 'tiny', state: 'training', message: '', startedAt: 0, updatedAt: 0, tasks: { train: 1, heldOut: 1 }, step: 0, metrics: [],
  spentUsd: 0, spentTokens: 0, adopted: false, simulated: false,
};
