// Trains an adapter of each tiny model for three steps and writes, for exported_adapter.py, the PEFT folder and our log-probabilities:
//   node with-node.mjs node test/golden/export-trained.ts OUT
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PROJECTIONS } from '../../backend/lm/adapter/projections.ts';
import { LocalModel } from '../../backend/lm/local-model.ts';
import { ADAMW_DEFAULTS } from '../../backend/lm/trainer/adamw.ts';
import { LocalEngine } from '../../backend/train/engines/local-engine.ts';
import { modelFolder } from './golden.ts';

const [out = ''] = process.argv.slice(2);
if (out === '') throw new Error('Name the folder to write to.');
for (const name of ['qwen2-tiny', 'qwen3-tiny'] as const) {
  const folder = path.resolve(out, name);
  await mkdir(folder, { recursive: true });
  const model = await LocalModel.open({
    settings: { folder: modelFolder(name), device: 'cpu', precision: 'full', adapters: true, trainable: 'adapter', storage: folder },
    device: 'cpu', deviceReasons: [], threads: 1,
  });
  await model.startTraining({ adapter: { rank: 4, alpha: 8, projections: PROJECTIONS, seed: 3 }, optimizer: ADAMW_DEFAULTS });
  const engine = new LocalEngine(model, { versions: path.join(folder, 'versions') });
  for (let step = 0; step < 3; step += 1) {
    const completions = await engine.sample({ messages: [{ role: 'user', content: 'Plan.' }], maxTokens: 12, temperature: 1, seeds: [step, step + 10, step + 20] });
    const batch = completions.map(({ promptTokens, tokens, logprobs }, index) => ({ promptTokens, tokens, samplerLogprobs: logprobs, advantage: index - 1 }));
    const loss = { type: 'grpo', clip: { low: 0.2, high: 0.2 }, klCoefficient: 0, importanceRatioCap: 0, temperature: 1, maxCompletionLength: 12 } as const;
    await engine.forwardBackward(loss, batch);
    await engine.optimStep({ learningRate: 0.05, gradientClip: 1 });
    await engine.saveForSampler(`step-${step}`);
  }
  const adapter = path.join(folder, 'versions', 'step-2');
  const sequences = Array.from({ length: 4 }, (_, row) => Array.from({ length: 24 }, (__, at) => (7 * at + 13 * row + 5) % 300));
  const promptLengths = sequences.map((_, row) => 4 + row);
  const [logprobs, base] = [await model.score({ sequences, promptLengths, adapter }), await model.score({ sequences, promptLengths })];
  await writeFile(path.join(folder, 'figures.json'), JSON.stringify({ model: modelFolder(name), adapter, sequences, promptLengths, logprobs, base }));
  await model.close();
}
