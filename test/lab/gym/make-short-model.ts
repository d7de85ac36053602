import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeNarrowCheckpoint } from '../../../backend/lm/checkpoint/narrow-checkpoint.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { openTokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { LocalEngine } from '../../../backend/train/engines/local-engine.ts';
import { writeNewMini } from '../../../backend/lab/mini/new-mini.ts';
import { pretrain, PRETRAIN_DEFAULTS, PRETRAIN_OPTIMIZER } from '../../../backend/lab/mini/pretrain.ts';
import { CheckpointStore } from '../../../backend/train/grpo/checkpoint-store.ts';
import { SHORT_MODEL } from './short-training.ts';

/*
 * Makes the model that the short training begins with: smaller than conductor-mini, and taught by imitation only until about half of its texts
 * are plans. node with-node.mjs node test/lab/gym/make-short-model.ts
 */

const GEOMETRY = { vocabularySize: 1_024, hiddenSize: 96, intermediateSize: 256, layers: 3, attentionHeads: 3, keyValueHeads: 1 };
const OPTIONS = { ...PRETRAIN_DEFAULTS, steps: 300, learningRate: { ...PRETRAIN_DEFAULTS.learningRate, peak: 4e-3 } };

const work = await mkdtemp(path.join(tmpdir(), 'short-model-'));
const begun = path.join(work, 'new');
await writeNewMini(begun, { seed: 1, geometry: GEOMETRY });
const model = await LocalModel.open({
  settings: { folder: begun, device: 'cpu', precision: 'full', adapters: false, trainable: 'weights', storage: work },
  device: 'cpu', deviceReasons: [], threads: 1,
});
const store = new CheckpointStore(path.join(work, 'training'), { configuration: 'short model' });
await model.startTraining({ optimizer: PRETRAIN_OPTIMIZER });
await pretrain(
  {
    engine: new LocalEngine(model, { versions: store.versions }), store, tokenizer: await openTokenizer(begun),
    onStep: ({ step, loss }) => void (step % 50 === 0 && process.stdout.write(`step ${step}/${OPTIONS.steps}  loss ${loss.toFixed(3)}\n`)),
  },
  OPTIONS, { from: undefined, signal: new AbortController().signal },
);
await model.exportTrained(path.join(work, 'trained'));
await model.close();
await writeNarrowCheckpoint(path.join(work, 'trained'), SHORT_MODEL);
await rm(work, { recursive: true, force: true });
