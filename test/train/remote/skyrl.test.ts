import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readAdapter } from '../../../backend/lm/adapter/read-adapter.ts';
import { trainingConfigSchema } from '../../../backend/protocol/training.ts';
import { workerConfigSchema } from '../../../backend/protocol/worker-config.ts';
import type { Example, PolicyLoss, TrainEngine } from '../../../backend/train/engines/engine.ts';
import { LocalEngine } from '../../../backend/train/engines/local-engine.ts';
import { openRemoteEngine } from '../../../backend/train/engines/open-remote-engine.ts';
import { TinkerClient } from '../../../backend/train/engines/remote/client.ts';
import { REMOTE_ADAM } from '../../../backend/train/engines/remote/remote-engine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/*
 * Against a real SkyRL that trains the model of `write-small-qwen3.ts` on this machine: docs/outgrow.md says how it is started. Its first
 * calls take a minute each, in which JAX compiles.
 */
const url = process.env['CONDUCTOR_TEST_TINKER'];
const note = url === undefined ? 'not tried: CONDUCTOR_TEST_TINKER names no server' : 'tried';

const LOSS: PolicyLoss = { type: 'grpo', clip: { low: 0.2, high: 0.2 }, klCoefficient: 0, importanceRatioCap: 2, temperature: 1, maxCompletionLength: 12 };
const STEP = { learningRate: 3e-3, gradientClip: 1e9 };
const REQUEST = { messages: [{ role: 'user' as const, content: 'Which worker writes the parser?' }], maxTokens: 12, temperature: 1, seeds: [1, 2, 3, 4] };

async function opened(folder: string, from?: { version: string; engineState: string }) {
  const [model = ''] = await new TinkerClient({ url: url! }).models();
  const { engine, close } = await openRemoteEngine(
    { openModel: () => Promise.reject(new Error('not here')), modelFolder: async () => model },
    {
      config: trainingConfigSchema.parse({ engine: { kind: 'remote', url }, adapter: { rank: 8 }, seed: 3 }),
      conductor: workerConfigSchema.parse({ id: 'small', provider: 'local', model }),
      versions: folder, keys: { get: () => Promise.reject(new Error('no key')), forget: () => {} }, from,
    },
  );
  onTestFinished(close);
  return { engine, model };
}

async function local(model: string, adapter: string, versions: string) {
  const settings = { folder: model, device: 'cpu', precision: 'full', adapters: true, trainable: 'adapter', storage: versions } as const;
  const loaded = await LocalModel.open({ settings, device: 'cpu', deviceReasons: [], threads: 1 });
  onTestFinished(() => loaded.close());
  await loaded.startTraining({ adapter, optimizer: REMOTE_ADAM });
  return { loaded, engine: new LocalEngine(loaded, { versions, latest: adapter }) };
}

async function examplesFrom(engine: TrainEngine): Promise<Example[]> {
  const samples = await engine.sample(REQUEST);
  return samples.map(({ promptTokens, tokens, logprobs }, index) => ({ promptTokens, tokens, samplerLogprobs: logprobs, advantage: [1, -0.5, 0.25, -0.75][index]! }));
}

const furthest = (a: readonly (readonly number[])[], b: readonly (readonly number[])[]): number =>
  Math.max(...a.flatMap((row, index) => row.map((value, token) => Math.abs(value - b[index]![token]!))));

describe.skipIf(url === undefined)(`SkyRL trains as this machine does (${note})`, { timeout: 600_000 }, () => {
  it.each([
    ['GRPO', LOSS, 1],
    ['Dr. GRPO without a cap', { ...LOSS, type: 'dr_grpo', importanceRatioCap: 0 }, 1],
    ['DAPO with a divergence', { ...LOSS, type: 'dapo', klCoefficient: 0.3 }, 1],
    ['GRPO with two updates of each batch', LOSS, 2],
  ] as const)('%s: losses, gradients and weights of three steps, from the same adapter and batch', async (_name, loss, updates) => {
    const folder = await temporaryFolder();
    const { engine: remote, model } = await opened(folder);
    await remote.saveForSampler('start');
    const here = await local(model, path.join(folder, 'start'), folder);
    const batch = await examplesFrom(remote);
    const rows: { loss: readonly [number, number]; gradient: readonly [number, number] }[] = [];
    for (let step = 0; step < 3; step += 1) {
      const sides = [remote, here.engine];
      const old = updates === 1 ? undefined : step % 2 === 0 ? await remote.forward(batch, 1) : batch.map(({ oldLogprobs = [] }) => oldLogprobs);
      if (old) batch.forEach((example, index) => (batch[index] = { ...example, oldLogprobs: old[index] }));
      const losses = [];
      const gradients = [];
      for (const side of sides) {
        losses.push((await side.forwardBackward(loss, batch)).loss);
        gradients.push((await side.optimStep(STEP)).gradientNorm!);
      }
      rows.push({ loss: losses as [number, number] & number[], gradient: gradients as [number, number] & number[] } as never);
    }
    if (process.env['CONDUCTOR_TEST_TABLE'] !== undefined) console.log(JSON.stringify({ name: _name, rows }));
    // Adam's first steps have the same size however small a gradient is, so what differs by rounding is moved both ways. The first is before that.
    for (const [step, { loss: [there, ours], gradient }] of rows.entries()) {
      // A divergence grows exponentially: into thousands with a real model at this rate.
      expect(Math.abs(there - ours) / Math.max(1, Math.abs(ours))).toBeLessThan(step === 0 ? 1e-5 : 5e-3);
      expect(Math.abs(gradient[0] - gradient[1]) / gradient[1]).toBeLessThan(step === 0 ? 1e-3 : 3e-2);
    }
    await Promise.all([remote, here.engine].map((side, index) => side.saveForSampler(`end-${index}`)));
    const { config } = await openCheckpoint(model);
    const [there, ours] = await Promise.all([0, 1].map((index) => readAdapter(path.join(folder, `end-${index}`), config)));
    const apart = there!.layers.flatMap((layer, index) => [...layer].flatMap(([projection, { b }]) => [...b].map((value, place) => Math.abs(value - ours!.layers[index]!.get(projection)!.b[place]!))));
    const meanApart = apart.reduce((sum, value) => sum + value, 0) / apart.length;
    if (process.env['CONDUCTOR_TEST_TABLE'] !== undefined) console.log(JSON.stringify({ name: _name, meanApart, most: apart.reduce((a, b) => Math.max(a, b)) }));
    // Three steps of 0.003 each move a weight by up to 0.009.
    expect(meanApart).toBeLessThan(3e-4);
  });

  it('the adapter comes home whole: the model on this machine gives the samples the log-probabilities that the server gave', async () => {
    const folder = await temporaryFolder();
    const { engine, model } = await opened(folder);
    const batch = await examplesFrom(engine);
    for (let step = 0; step < 2; step += 1) {
      await engine.forwardBackward(LOSS, batch);
      await engine.optimStep(STEP);
    }
    await engine.saveForSampler('step-000001');
    const samples = await examplesFrom(engine);
    const { engine: here } = await local(model, path.join(folder, 'step-000001'), folder);
    const apart = furthest(await here.forward(samples, 1), samples.map(({ samplerLogprobs }) => samplerLogprobs));
    if (process.env['CONDUCTOR_TEST_TABLE'] !== undefined) console.log(JSON.stringify({ home: apart }));
    expect(apart).toBeLessThan(1e-4);
  });

  it('another process goes on where one stopped, as if it had not', async () => {
    const folder = await temporaryFolder();
    const { engine } = await opened(folder);
    const batch = await examplesFrom(engine);
    const step = async (side: TrainEngine): Promise<void> => {
      await side.forwardBackward(LOSS, batch);
      await side.optimStep(STEP);
    };
    await step(engine);
    await engine.saveForSampler('step-000001');
    const engineState = path.join(folder, 'checkpoints', 'step-000001', 'engine');
    await mkdir(path.dirname(engineState), { recursive: true });
    await engine.saveState(engineState);
    await step(engine);
    const { engine: resumed } = await opened(folder, { version: 'step-000001', engineState });
    await step(resumed);
    await resumed.saveForSampler('step-000002');
    const samples = await resumed.sample(REQUEST);
    expect(samples).toHaveLength(4);
    const apart = furthest(await resumed.forward(batch, 1), await engine.forward(batch, 1));
    if (process.env['CONDUCTOR_TEST_TABLE'] !== undefined) console.log(JSON.stringify({ resumed: apart }));
    expect(apart).toBeLessThan(1e-5);
  });
});
