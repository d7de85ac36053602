import { describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { QWEN_MODELS, modelFolder, readFigures } from '../../golden/golden.ts';
import { scoreWithFedWeights } from './fed-weights.ts';
import { worstDifference } from './tiny-model.ts';

describe.each(QWEN_MODELS)('weights of %s that are fed instead of read from their files', (model) => {
  it('give the same scores, each alone and all together', async () => {
    const checkpoint = await openCheckpoint(modelFolder(model));
    const { sequences, promptLengths, base } = await readFigures(model);
    const names = [...checkpoint.tensors.keys()];
    const someNames = names.filter((name) => !name.startsWith('model.layers.') || name.startsWith('model.layers.1.'));
    for (const fed of [names, ...someNames.map((name) => [name])]) {
      const weights = new Map<string, Float32Array>();
      for (const name of fed) weights.set(name, await readTensor(checkpoint.tensors.get(name)!));
      const scores = await scoreWithFedWeights(checkpoint, weights, { sequences, promptLengths });
      expect(worstDifference(scores, base.completionLogprobs)).toBeLessThan(2e-4);
    }
  });

  it('are used: others give other scores', async () => {
    const checkpoint = await openCheckpoint(modelFolder(model));
    const { sequences, promptLengths, base } = await readFigures(model);
    for (const [name, stored] of checkpoint.tensors) {
      const changed = (await readTensor(stored)).map((value, index) => value * (index % 2 === 0 ? 1.1 : 0.9));
      const scores = await scoreWithFedWeights(checkpoint, new Map([[name, changed]]), { sequences, promptLengths });
      expect(worstDifference(scores, base.completionLogprobs), name).toBeGreaterThan(0.01);
    }
  });
});
