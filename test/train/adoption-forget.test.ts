import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { workersFileSchema } from '../../backend/protocol/worker-config.ts';
import { Adoption } from '../../backend/train/trainings/adoption.ts';
import { TrainingRegistry } from '../../backend/train/trainings/training-registry.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it.each([['adapter', true], ['weights', true], ['description', false]] as const)('what a removed training made stays while it is the %s of a worker', async (field, stays) => {
  const folder = await temporaryFolder();
  const made = path.join(folder, 'adapters', 'one');
  await mkdir(made, { recursive: true });
  // A crash came between this and the note that the training is adopted.
  const workers = workersFileSchema.parse({ version: 1, workers: [{ id: 'planner', provider: 'local', model: 'tiny', [field]: made }] });
  const adoption = new Adoption({
    registry: new TrainingRegistry(path.join(folder, 'trainings'), Date.now), adapters: path.join(folder, 'adapters'),
    changeWorkers: () => Promise.reject(new Error('Nothing is changed.')), loadWorkers: () => Promise.resolve(workers), baseOf: undefined,
  });
  await adoption.forget('one');
  expect(existsSync(made)).toBe(stays);
});
