import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTrainingConfig, readTrainingConfig, TRAINING_CONFIG_FILE, TrainingConfigError, withTests } from '../../extension/training/training-config.ts';

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

  it('have the tests that were chosen for the folder, where they name none', async () => {
    const { config } = await readTrainingConfig(folder);
    expect(withTests(config, {})).toEqual(config);
    expect(withTests(config, { testCommand: null })).toEqual(config);
    const chosen = withTests(config, { testCommand: './check', testReports: 'reports/*.xml', testImage: 'node:24' });
    expect(chosen).toEqual({ ...config, tasks: { ...config.tasks, test: { command: './check', reports: 'reports/*.xml' }, image: 'node:24' } });
    expect(withTests(chosen, { testCommand: 'npm test', testImage: 'node:22' })).toEqual(chosen);
  });

  it('are written out where there is no file of them, so that there is something to edit', async () => {
    const { config } = await readTrainingConfig(folder);
    expect(await createTrainingConfig(folder, config)).toBe(file());
    expect(await readFile(file(), 'utf8')).toMatch(/^\{\n {2}"engine": "local",\n {2}"tasks": \{\n {4}"count": 40,\n[\s\S]*\n\}\n$/);
    expect(await readTrainingConfig(folder)).toEqual({ config, isFromFile: true });
  });

  it('stay as they are where there is a file, though it be a broken one', async () => {
    const { config } = await readTrainingConfig(folder);
    await writeFile(file(), '{');
    expect(await createTrainingConfig(folder, config)).toBe(file());
    expect(await readFile(file(), 'utf8')).toBe('{');
  });

  it('are not written where there is no such folder, which is said', async () => {
    const { config } = await readTrainingConfig(folder);
    await expect(createTrainingConfig(path.join(folder, 'gone'), config)).rejects.toThrow(/^conductor\.train\.json: it cannot be written: ENOENT/);
  });
});
