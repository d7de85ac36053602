import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECTIONS } from '../../../backend/lm/adapter/projections.ts';
import { type Adapter, readAdapter } from '../../../backend/lm/adapter/read-adapter.ts';
import { tensorsOf, writeAdapter } from '../../../backend/lm/adapter/write-adapter.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import { ADAMW_DEFAULTS } from '../../../backend/lm/trainer/adamw.ts';
import { newAdapterLayers } from '../../../backend/lm/trainer/new-adapter.ts';
import { ParameterTrainer, TrainerStateError } from '../../../backend/lm/trainer/parameter-trainer.ts';
import { modelFolder, readFigures } from '../../golden/golden.ts';
import { goldenAdapter } from '../decoder/tiny-model.ts';

const MODEL = 'qwen2-tiny';
const RANK = 4;
const ALPHA = 8;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trainer-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const checkpoint = await openCheckpoint(modelFolder(MODEL));

function fresh(seed = 7): Adapter {
  const layers = newAdapterLayers(checkpoint.config, { rank: RANK, alpha: ALPHA, projections: PROJECTIONS, seed });
  return { name: 'new', folder: '', rank: RANK, scaling: ALPHA / RANK, targets: PROJECTIONS, layers, version: `${seed}` };
}

/** The session takes an adapter that it has seen for unchanged. */
const changed = (adapter: Adapter): Adapter => ({ ...adapter });

async function openSession(): Promise<DecoderSession> {
  return await DecoderSession.open(checkpoint, {
    device: 'cpu', compute: 'float32', contextLength: 128, threads: 1, adapters: true, trainable: 'adapter',
  });
}

/** So many steps towards the golden completions; returns the loss before each. */
async function imitate(session: DecoderSession, adapter: Adapter, trainer: ParameterTrainer, steps: number): Promise<number[]> {
  const { sequences, promptLengths } = await readFigures(MODEL);
  const counts = sequences.map((sequence, row) => sequence.length - (promptLengths[row] as number));
  const total = counts.reduce((a, b) => a + b, 0);
  const losses: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    let loss = 0;
    // Two micro-batches a step.
    for (const [from, to] of [[0, 4], [4, sequences.length]] as const) {
      const batch = await session.train({
        sequences: sequences.slice(from, to),
        promptLengths: promptLengths.slice(from, to),
        tokens: counts.slice(from, to).map((count) => ({ crossEntropyWeights: new Array<number>(count).fill(1 / total) })),
        adapter: changed(adapter),
      });
      loss += batch.loss;
      trainer.accumulate(batch.gradients);
    }
    losses.push(loss);
    trainer.step({ learningRate: 0.01, gradientClip: 1 });
  }
  return losses;
}

describe('training an adapter', () => {
  it('begins with one that changes nothing, and learns what it is shown', async () => {
    const session = await openSession();
    const adapter = fresh();
    const trainer = new ParameterTrainer(tensorsOf(adapter), ADAMW_DEFAULTS);
    const losses = await imitate(session, adapter, trainer, 20);
    await session.close();
    expect(losses[0]).toBeCloseTo((await readFigures(MODEL)).base.loss, 4);
    expect(losses.at(-1)).toBeLessThan(0.7 * losses[0]!);
    expect(trainer.steps).toBe(20);
  });

  it('goes on after a save as if it had not been interrupted, bit for bit', async () => {
    const session = await openSession();
    const straight = fresh();
    const whole = await imitate(session, straight, new ParameterTrainer(tensorsOf(straight), ADAMW_DEFAULTS), 6);

    const first = fresh();
    const trainer = new ParameterTrainer(tensorsOf(first), ADAMW_DEFAULTS);
    const before = await imitate(session, first, trainer, 3);
    await trainer.save(path.join(folder, 'state'));

    const resumed = fresh(8);
    const again = await ParameterTrainer.begin(tensorsOf(resumed), ADAMW_DEFAULTS, path.join(folder, 'state'));
    const after = await imitate(session, resumed, again, 3);
    await session.close();
    expect([...before, ...after]).toEqual(whole);
    expect(tensorsOf(resumed)).toEqual(tensorsOf(straight));
    expect(await readdir(folder)).toEqual(['state']);
  });

  it('refuses a saved training of another shape, and a damaged one', async () => {
    const trainer = new ParameterTrainer(tensorsOf(fresh()), ADAMW_DEFAULTS);
    const saved = path.join(folder, 'other');
    await trainer.save(saved);
    const wider = newAdapterLayers(checkpoint.config, { rank: 2, alpha: 2, projections: ['q_proj'], seed: 1 });
    await expect(ParameterTrainer.load(saved, tensorsOf({ rank: 2, layers: wider }))).rejects.toThrow(TrainerStateError);
    await truncate(path.join(saved, 'trainer.safetensors'), 5_000);
    await expect(ParameterTrainer.load(saved, tensorsOf(fresh()))).rejects.toThrow(/trainer\.safetensors/);
    await writeFile(path.join(saved, 'trainer.json'), '{"format":1');
    await expect(ParameterTrainer.load(saved, tensorsOf(fresh()))).rejects.toThrow(/Go back to an earlier checkpoint/);
  });
});

describe('an exported adapter', () => {
  it('is the one that was read, whatever the form it was stored in', async () => {
    for (const name of ['qwen2-tiny-all', 'qwen2-tiny-attention']) {
      const adapter = await goldenAdapter(MODEL, name);
      const exported = path.join(folder, `exported-${name}`);
      await writeAdapter(exported, { rank: adapter.rank, alpha: adapter.scaling * adapter.rank, baseModel: MODEL, layers: adapter.layers });
      const again = await readAdapter(exported, checkpoint.config);
      expect(again.layers).toEqual(adapter.layers);
      expect(again).toMatchObject({ rank: adapter.rank, targets: adapter.targets });
      expect(again.scaling).toBeCloseTo(adapter.scaling, 12);
    }
  });

  it('does not take the place of one that is there', async () => {
    const adapter = await goldenAdapter(MODEL, 'qwen2-tiny-all');
    const target = path.join(folder, 'taken');
    const toWrite = { rank: adapter.rank, alpha: 8, baseModel: MODEL, layers: adapter.layers };
    await writeAdapter(target, toWrite);
    await expect(writeAdapter(target, toWrite)).rejects.toThrow();
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
