import path from 'node:path';
import { expect, it } from 'vitest';
import { LocalModel } from '../../backend/lm/local-model.ts';
import { ADAMW_DEFAULTS } from '../../backend/lm/trainer/adamw.ts';
import { PROJECTIONS } from '../../backend/lm/adapter/projections.ts';
import { LocalEngine } from '../../backend/train/engines/local-engine.ts';
import { modelFolder } from '../golden/golden.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it.each(['4-bit', '8-bit'] as const)('an adapter is trained on a model whose weights are held in %s blocks (QLoRA, arXiv 2305.14314)', async (precision) => {
  const folder = await temporaryFolder();
  const model = await LocalModel.open({
    settings: { folder: modelFolder('qwen2-tiny'), device: 'cpu', precision, adapters: true, trainable: 'adapter', storage: folder },
    device: 'cpu', deviceReasons: [], threads: 1,
  });
  try {
    await model.startTraining({ adapter: { rank: 4, alpha: 8, projections: PROJECTIONS, seed: 1 }, optimizer: ADAMW_DEFAULTS });
    const engine = new LocalEngine(model, { versions: path.join(folder, 'versions') });
    const batch = [[5, 9, 13], [7, 3, 1]].map((tokens) => ({ promptTokens: [2, 4, 6, 8], tokens, samplerLogprobs: [], advantage: 0 }));
    const losses: number[] = [];
    for (let step = 0; step < 12; step += 1) {
      losses.push((await engine.forwardBackward({ type: 'cross_entropy' }, batch)).loss);
      await engine.optimStep({ learningRate: 0.02, gradientClip: 1 });
    }
    expect(losses.at(-1)!).toBeLessThan(0.5 * losses[0]!);

    // What is sampled from is what was trained.
    await engine.saveForSampler('trained');
    const { logprobs } = await engine.forwardBackward({ type: 'cross_entropy' }, batch);
    const scored = await model.score({
      sequences: batch.map(({ promptTokens, tokens }) => [...promptTokens, ...tokens]), promptLengths: [4, 4], adapter: path.join(folder, 'versions', 'trained'),
    });
    for (const [row, expected] of logprobs.entries()) {
      for (const [at, logprob] of expected.entries()) expect(scored[row]![at]).toBeCloseTo(logprob, 1);
    }
  } finally {
    await model.close();
  }
});
