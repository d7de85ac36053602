import { copyFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { writeFolder } from '../../common/write-folder.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import { readTensor } from '../checkpoint/read-tensor.ts';
import { type NamedTensor, writeSafetensors } from '../checkpoint/write-safetensors.ts';
import type { DecoderSession } from '../decoder/decoder-session.ts';
import { ModelRequestError } from '../decoder/request-error.ts';
import { ParameterTrainer, type StepOptions } from './parameter-trainer.ts';
import type { BatchToTrain, TrainedTokens, Training, TrainingStart } from './training.ts';

/** What of a model's folder is not weights: its geometry, its tokenizer, and what people should read. */
const COPIED = /^(?:(?:config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json|merges\.txt|chat_template\.jinja|README\.md|LICENSE.*)$/;

export class WeightsTraining implements Training {
  readonly #session: DecoderSession;
  readonly #checkpoint: Checkpoint;
  readonly #trainer: ParameterTrainer;

  private constructor(session: DecoderSession, checkpoint: Checkpoint, trainer: ParameterTrainer) {
    this.#session = session;
    this.#checkpoint = checkpoint;
    this.#trainer = trainer;
    // Steps change these numbers in place: what is sampled from is always what was learned so far.
    session.useWeights(trainer.parameters);
  }

  /** @throws CheckpointError, TrainerStateError, ModelRequestError */
  static async begin(session: DecoderSession, checkpoint: Checkpoint, { adapter, optimizer, resume }: TrainingStart): Promise<WeightsTraining> {
    if (adapter !== undefined) throw new ModelRequestError('The model was loaded to train its weights, and an adapter was named.');
    const tensors: NamedTensor[] = [];
    for (const [name, stored] of checkpoint.tensors) tensors.push({ name, shape: stored.shape, data: await readTensor(stored) });
    return new WeightsTraining(session, checkpoint, await ParameterTrainer.begin(tensors, optimizer, resume));
  }

  async forwardBackward(batch: BatchToTrain): Promise<TrainedTokens> {
    const { gradients, ...told } = await this.#session.train(batch);
    this.#trainer.accumulate(gradients);
    return told;
  }

  step(options: StepOptions): { readonly gradientNorm: number } {
    return this.#trainer.step(options);
  }

  discard(): void {
    this.#trainer.discard();
  }

  writeGradients(file: string): Promise<{ readonly gradientNorm: number }> {
    return this.#trainer.writeGradients(file);
  }

  save(folder: string): Promise<void> {
    return this.#trainer.save(folder);
  }

  /** A model's folder, in float32. */
  async exportTo(folder: string): Promise<void> {
    await writeFolder(folder, async (staging) => {
      for (const name of await readdir(this.#checkpoint.folder)) {
        if (COPIED.test(name)) await copyFile(path.join(this.#checkpoint.folder, name), path.join(staging, name));
      }
      await writeSafetensors(path.join(staging, 'model.safetensors'), this.#trainer.tensors, { format: 'pt' });
    });
  }
}
