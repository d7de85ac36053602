import path from 'node:path';
import { expect, it } from 'vitest';
import type { TrainableModel } from '../../backend/lm/language-model.ts';
import { trainingConfigSchema } from '../../backend/protocol/training.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { openEngine } from '../../backend/train/engines/open-engine.ts';

const VERSIONS = path.join(path.sep, 'training', 'versions');
const BEFORE = path.join(path.sep, 'adapters', 'before');
const start = {
  config: trainingConfigSchema.parse({}),
  conductor: workerConfigSchema.parse({ id: 'tiny', provider: 'local', model: 'tiny', adapter: BEFORE }),
  versions: VERSIONS,
  keys: { get: () => Promise.reject(new Error('no key is needed')), forget: () => {} },
};

function recordingModel(startTraining: () => Promise<void> = async () => {}) {
  const sampledFrom: (string | undefined)[] = [];
  const model = {
    startTraining,
    exportTrained: async () => {},
    describe: async () => ({ contextLength: 10 }),
    countTokens: async () => 7,
    write: async ({ adapter }: { adapter?: string }) => {
      sampledFrom.push(adapter);
      return [];
    },
  } as unknown as TrainableModel;
  let isOpen = true;
  const openModel = async () => ({ model, close: async () => void (isOpen = false) });
  const modelFolder = () => Promise.reject(new Error('no folder is needed'));
  return { parts: { openModel, modelFolder }, sampledFrom, isOpen: () => isOpen };
}

it('the engine of this machine samples from the latest version, and from the model before the training where that is asked for', async () => {
  const { parts, sampledFrom } = recordingModel();
  const { engine } = await openEngine(parts, start);
  const request = { messages: [], maxTokens: 3, temperature: 1, seeds: [1] };
  await engine.sample(request);
  await engine.saveForSampler('step-000001');
  await engine.sample(request);
  await engine.sample({ ...request, version: 'initial' });
  const resumed = await openEngine(parts, { ...start, from: { version: 'step-000004', engineState: 'state' } });
  await resumed.engine.sample(request);
  await resumed.engine.sample({ ...request, version: 'initial' });
  expect(sampledFrom).toEqual([BEFORE, path.join(VERSIONS, 'step-000001'), BEFORE, path.join(VERSIONS, 'step-000004'), BEFORE]);
});

it('it knows which prompts leave room for an answer', async () => {
  const { engine } = await openEngine(recordingModel().parts, start);
  expect([await engine.hasRoom({ messages: [] }, 3), await engine.hasRoom({ messages: [] }, 4)]).toEqual([true, false]);
});

it('it frees the model where the training cannot start', async () => {
  const { parts, isOpen } = recordingModel(() => Promise.reject(new Error('no such adapter')));
  await expect(openEngine(parts, start)).rejects.toThrow('no such adapter');
  expect(isOpen()).toBe(false);
});
