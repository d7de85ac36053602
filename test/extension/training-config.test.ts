import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readTrainingConfig, TRAINING_CONFIG_FILE, TrainingConfigError } from '../../extension/training-config.ts';

let folder: string;
const file = (): string => path.join(folder, TRAINING_CONFIG_FILE);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-training-config-'));
});
beforeEach(() => rm(file(), { force: true, recursive: true }));
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the settings of a project\'s trainings', () => {
  it('are the defaults where the folder has no file of them', async () => {
    const { config, isFromFile } = await readTrainingConfig(folder);
    expect(isFromFile).toBe(false);
    expect(config).toMatchObject({ steps: 50, budget: { usd: 10 } });
  });

  it('are those of its file, with defaults for what is not said', async () => {
    await writeFile(file(), '{"steps": 2, "budget": {"usd": 0.5}}');
    const { config, isFromFile } = await readTrainingConfig(folder);
    expect(isFromFile).toBe(true);
    expect(config).toMatchObject({ steps: 2, groupSize: 8, budget: { usd: 0.5, tokens: 20_000_000 } });
  });

  it.each([
    ['a value out of range', '{"steps": 0}', /conductor\.train\.json: steps: /],
    ['a setting that there is not', '{"step": 5}', /conductor\.train\.json: .*step/],
    ['no JSON', '{', /conductor\.train\.json: /],
    ['no settings', '7', /conductor\.train\.json: the configuration: /],
  ])('are refused with the place: %s', async (_what, text, sentence) => {
    await writeFile(file(), text);
    const refusal = await readTrainingConfig(folder).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(TrainingConfigError);
    expect((refusal as Error).message).toMatch(sentence);
  });
});
