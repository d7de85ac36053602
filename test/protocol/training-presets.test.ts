import { describe, expect, it } from 'vitest';
import { trainingConfigSchema } from '../../backend/protocol/training.ts';

describe('the preset of the paper', () => {
  it('has the figures of the paper, and for all else the usual defaults', () => {
    const { preset, ...config } = trainingConfigSchema.parse({ preset: 'paper' });
    const usual = trainingConfigSchema.parse({});
    expect(preset).toBe('paper');
    expect(config).toMatchObject({
      steps: 200, tasksPerStep: 4, groupSize: 64, maxTokens: 1_024, temperature: 1, learningRate: { peak: 1e-6 }, loss: { divergence: 0, importanceLimit: 0 }, workers: { '*': { maxOutputTokens: 4_096 } },
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
