import { basename } from 'node:path';
import { type Adapter, readAdapter } from '../adapter/read-adapter.ts';
import { tensorsOf, writeAdapter } from '../adapter/write-adapter.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import type { DecoderSession } from '../decoder/decoder-session.ts';
import { ModelRequestError } from '../decoder/request-error.ts';
import { type NewAdapter, newAdapterLayers } from './new-adapter.ts';
import { ParameterTrainer, type StepOptions } from './parameter-trainer.ts';
import type { BatchToTrain, TrainedTokens, Training, TrainingStart } from './training.ts';

export class AdapterTraining implements Training {
  readonly #session: DecoderSession;
  readonly #baseModel: string;
  readonly #alpha: number;
  readonly #trainer: ParameterTrainer;
  #adapter: Adapter;

  private constructor(session: DecoderSession, baseModel: string, adapter: Adapter, trainer: ParameterTrainer) {
    this.#session = session;
    this.#baseModel = baseModel;
    this.#alpha = adapter.scaling * adapter.rank;
    this.#adapter = adapter;
    this.#trainer = trainer;
  }

  /** @throws AdapterError, CheckpointError, TrainerStateError, ModelRequestError */
  static async begin(session: DecoderSession, checkpoint: Checkpoint, { adapter, optimizer, resume }: TrainingStart): Promise<AdapterTraining> {
    if (adapter === undefined) throw new ModelRequestError('The model was loaded to train an adapter, and none was named.');
    const begun = typeof adapter === 'string' ? await readAdapter(adapter, checkpoint.config) : newAdapter(checkpoint, adapter);
    const trainer = await ParameterTrainer.begin(tensorsOf(begun), optimizer, resume);
    return new AdapterTraining(session, basename(checkpoint.folder), begun, trainer);
  }

  async forwardBackward(batch: BatchToTrain): Promise<TrainedTokens> {
    const { gradients, ...told } = await this.#session.train({ ...batch, adapter: this.#adapter });
    this.#trainer.accumulate(gradients);
    return told;
  }

  step(options: StepOptions): { readonly gradientNorm: number } {
    const taken = this.#trainer.step(options);
    // Another object, so that the session does not take the adapter for the one it has fed before.
    this.#adapter = { ...this.#adapter };
    return taken;
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

  async exportTo(folder: string): Promise<void> {
    const { rank, layers } = this.#adapter;
    await writeAdapter(folder, { rank, alpha: this.#alpha, baseModel: this.#baseModel, layers });
  }
}

function newAdapter({ config, folder }: Checkpoint, start: NewAdapter): Adapter {
  const { rank, alpha, projections, seed } = start;
  const layers = newAdapterLayers(config, start);
  return { name: 'new', folder, rank, scaling: alpha / rank, targets: projections, layers, version: `new ${seed}` };
}
