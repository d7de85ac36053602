import { copyFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { writeFolder } from '../../common/write-folder.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import { readTensor } from '../checkpoint/read-tensor.ts';
import { type NamedTensor, writeSafetensors } from '../checkpoint/write-safetensors.ts';
import type { DecoderSession } from '../decoder/decoder-session.ts';
import { ModelRequestError } from '../decoder/request-error.ts';
import { ParameterTrainer } from './parameter-trainer.ts';
import { Trainer, type TrainerStart } from './trainer.ts';

/** The files of a model's folder other than weights: configuration, tokenizer and documentation. */
const COPIED = /^(?:(?:config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json|merges\.txt|chat_template\.jinja|README\.md|LICENSE.*)$/;

/** @throws CheckpointError, TrainerStateError, ModelRequestError */
export async function trainWeights(session: DecoderSession, checkpoint: Checkpoint, { adapter, optimizer, resume }: TrainerStart): Promise<Trainer> {
  if (adapter !== undefined) throw new ModelRequestError('The model was loaded to train its weights, but the request names an adapter.');
  const tensors: NamedTensor[] = [];
  for (const [name, stored] of checkpoint.tensors) tensors.push({ name, shape: stored.shape, data: await readTensor(stored) });
  const parameters = await ParameterTrainer.begin(tensors, optimizer, resume);
  // Steps change these numbers in place, so sampling always uses the weights as trained so far.
  session.useWeights(parameters.parameters);
  return new Trainer(
    {
      gradientsOf: (batch) => session.train(batch),
      changed: () => {},
      exportTo: (folder) => exportModel(checkpoint, parameters.tensors, folder),
    },
    parameters,
  );
}

/** Writes a model's folder, in float32. */
function exportModel(checkpoint: Checkpoint, tensors: readonly NamedTensor[], folder: string): Promise<void> {
  return writeFolder(folder, async (staging) => {
    for (const name of await readdir(checkpoint.folder)) {
      if (COPIED.test(name)) await copyFile(path.join(checkpoint.folder, name), path.join(staging, name));
    }
    await writeSafetensors(path.join(staging, 'model.safetensors'), tensors, { format: 'pt' });
  });
}
