import { cp } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { workerConfigSchema, workersFileSchema } from '../../backend/protocol/worker-config.ts';
import { modelParts } from '../../backend/wiring/models.ts';
import { modelFolder } from '../golden/golden.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it('a worker with trained weights is the model of their folder, by its own name', async () => {
  const home = await temporaryFolder();
  const weights = path.join(home, 'trained');
  await cp(modelFolder('qwen3-tiny'), weights, { recursive: true });
  const worker = workerConfigSchema.parse({ id: 'planner', provider: 'local', model: modelFolder('qwen2-tiny'), weights });
  const models = modelParts({ home, loadWorkers: async () => workersFileSchema.parse({ version: 1, workers: [worker] }), confirmCuda: async () => false, log: () => {} });
  try {
    expect((await models.localModel(worker).describe()).name).toBe('trained');
    expect((await models.localModel({ ...worker, weights: undefined }).describe()).name).toBe('qwen2-tiny');
    expect(models.access.states.map(({ model }) => model)).toContain(worker.model);
    await models.access.unload(worker.model);
    expect(models.access.states.map(({ state }) => state)).toEqual(['unloaded', 'unloaded']);
    expect(await models.whyNot(worker)).toBeUndefined();
    expect(await models.whyNot({ ...worker, weights: path.join(home, 'gone') })).toContain('gone');
    expect(await models.weightsTraining(worker)).toMatchObject({ problem: undefined, needs: expect.stringContaining('of memory') });
  } finally {
    await models.close();
  }
}, 120_000);
