// Writes, scores and trains with a golden model: node warned-of.ts. onnxruntime, which the product lets speak of errors alone, warns on standard error.
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { ObservedRuntime } from '../../bench/gpu/observed-runtime.ts';
import { modelFolder, readFigures } from '../../golden/golden.ts';
import { openModel, request } from './tiny-model.ts';

const WARNINGS = 2;
(await ObservedRuntime.install()).extraOptions = { logSeverityLevel: WARNINGS };

const { tensors } = await openCheckpoint(modelFolder('qwen2-tiny'));
const { prompts, sequences, promptLengths } = await readFigures('qwen2-tiny');
const tokens = sequences.map((sequence, row) => ({ crossEntropyWeights: sequence.slice(promptLengths[row]).map(() => 1) }));
for (const trainable of ['adapter', [...tensors.keys()]] as const) {
  const session = await openModel('qwen2-tiny', { adapters: true, trainable, keepProjections: true });
  if (trainable !== 'adapter') session.useWeights(new Map(await Promise.all([...tensors].map(async ([name, tensor]) => [name, await readTensor(tensor)] as const))));
  await session.generate(request({ prompts, samples: 2, chunkTokens: 5 }));
  await session.score({ sequences, promptLengths });
  await session.train({ sequences, promptLengths, tokens });
  await session.close();
}
console.log('done');
