import { cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { workersFileSchema } from '../../backend/protocol/worker-config.ts';
import { modelParts } from '../../backend/wiring/models.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { MINI } from '../support/unequal-workers.ts';
import { servedConductor, trainedAdapter } from '../workers/served/served-parts.ts';

async function parts() {
  const home = await temporaryFolder();
  const models = modelParts({ home, loadWorkers: async () => workersFileSchema.parse({ version: 1, workers: [] }), confirmCuda: async () => false, log: () => {} });
  onTestFinished(() => models.close());
  return { home, models };
}

it('a served Conductor needs the tokenizer and the shape of its model here, and no weights', async () => {
  const { home, models } = await parts();
  const model = path.join(home, 'model');
  await mkdir(model);
  for (const file of ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json']) await cp(path.join(MINI, file), path.join(model, file));
  const adapter = await trainedAdapter(home, 'mx1');
  const planner = servedConductor('http://127.0.0.1:8000/v1', { served: { model }, adapter });
  expect(await models.whyNot(planner)).toBeUndefined();
  expect(await models.adapterVersion(planner)).toMatch(/^[\da-f]{64}$/);
  // Its weights have the same version with the model that has weights here.
  expect(await models.adapterVersion(planner)).toBe(await models.adapterVersion(servedConductor('http://127.0.0.1:8000/v1', { adapter })));

  expect(await models.whyNot({ ...planner, adapter: path.join(home, 'gone') })).toContain('has no adapter_config.json');
  await rm(path.join(model, 'tokenizer.json'));
  const { models: others } = await parts();
  expect(await others.whyNot(planner)).toContain('tokenizer.json');
});
