import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { openTokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { LocalEngine } from '../../../backend/train/engines/local-engine.ts';
import { writeNewMini } from '../../../backend/lab/mini/new-mini.ts';
import { pretrain, PRETRAIN_DEFAULTS, PRETRAIN_OPTIMIZER, type PretrainedStep } from '../../../backend/lab/mini/pretrain.ts';
import { CheckpointStore } from '../../../backend/train/grpo/checkpoint-store.ts';

const TINY = { vocabularySize: 320, hiddenSize: 32, intermediateSize: 64, layers: 1, attentionHeads: 2, keyValueHeads: 1 };
const OPTIONS = { ...PRETRAIN_DEFAULTS, steps: 6, batchSize: { texts: 1, openings: 1 }, stepsKept: 2, learningRate: { ...PRETRAIN_DEFAULTS.learningRate, peak: 0.01 } };

let folder: string;
let base: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pretrain-'));
  base = path.join(folder, 'new');
  await writeNewMini(base, { seed: 1, geometry: TINY, examples: 50 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Trains in a folder of that name, from its last checkpoint, and exports the weights when it is done. */
async function train(name: string, signal = new AbortController().signal, onStep?: (told: PretrainedStep) => void): Promise<string> {
  const store = new CheckpointStore(path.join(folder, name), { configuration: 'test' });
  const from = await store.resume();
  const settings = { folder: base, device: 'cpu', precision: 'full', adapters: false, trainable: 'weights', storage: folder } as const;
  const model = await LocalModel.open({ settings, device: 'cpu', deviceReasons: [], threads: 1 });
  try {
    await model.startTraining({ optimizer: PRETRAIN_OPTIMIZER, ...(from && { resume: from.engineState }) });
    const engine = new LocalEngine(model, { versions: store.versions });
    await pretrain({ engine, store, tokenizer: await openTokenizer(base), onStep }, OPTIONS, { from, signal });
    const exported = path.join(folder, `${name}-trained`);
    await model.exportTrained(exported);
    return exported;
  } finally {
    await model.close();
  }
}

describe('pre-training', () => {
  it('lowers the loss, and goes on after a kill as if there had been none, bit for bit', async () => {
    const losses: number[] = [];
    const whole = await train('whole', undefined, ({ loss }) => losses.push(loss));
    expect(Math.abs(losses[0]! - Math.log(320))).toBeLessThan(1);
    expect(losses.at(-1)).toBeLessThan(losses[0]! - 0.5);

    const controller = new AbortController();
    const steps: number[] = [];
    const told = ({ step }: PretrainedStep): void => {
      steps.push(step);
      if (steps.length === 3) controller.abort(new Error('killed'));
    };
    await expect(train('killed', controller.signal, told)).rejects.toThrow('killed');
    const resumed = await train('killed', undefined, told);
    // Step 3 was after the last checkpoint and is done again.
    expect(steps).toEqual([1, 2, 3, 3, 4, 5, 6]);
    const weights = (exported: string): Promise<Buffer> => readFile(path.join(exported, 'model.safetensors'));
    expect(await weights(resumed)).toEqual(await weights(whole));
  });
});
