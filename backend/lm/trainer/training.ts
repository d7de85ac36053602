import { basename } from 'node:path';
import { type Adapter, readAdapter } from '../adapter/read-adapter.ts';
import { type NewAdapter, newAdapterLayers } from './new-adapter.ts';
import { tensorsOf, writeAdapter } from '../adapter/write-adapter.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import { type NamedTensor, writeSafetensors } from '../checkpoint/write-safetensors.ts';
import type { DecoderSession } from '../decoder/decoder-session.ts';
import { ModelRequestError } from '../decoder/request-error.ts';
import type { TrainingRequest } from '../decoder/training-run.ts';
import type { AdamWOptions } from './adamw.ts';
import { ParameterTrainer, type StepOptions } from './parameter-trainer.ts';

export interface TrainingStart {
  /** A PEFT folder to go on from, or a new adapter, which changes nothing yet. */
  readonly adapter: string | NewAdapter;
  readonly optimizer: AdamWOptions;
  /** A folder that `save` wrote of a training of the same adapter: numbers and optimiser are taken from it. */
  readonly resume?: string | undefined;
}

export type BatchToTrain = Omit<TrainingRequest, 'adapter'>;

export interface TrainedTokens {
  /** The sum over all tokens of the batch. */
  readonly loss: number;
  /** One list a sequence: of its trained tokens, and of the distributions they were drawn from, in nats. */
  readonly logprobs: readonly (readonly number[])[];
  readonly entropies: readonly (readonly number[])[];
}

/** An adapter in training. */
export class AdapterTraining {
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

  /** @throws AdapterError, CheckpointError, TrainerStateError */
  static async begin(session: DecoderSession, checkpoint: Checkpoint, { adapter, optimizer, resume }: TrainingStart): Promise<AdapterTraining> {
    const begun = typeof adapter === 'string' ? await readAdapter(adapter, checkpoint.config) : newAdapter(checkpoint, adapter);
    const tensors = tensorsOf(begun);
    const saved = resume === undefined ? undefined : await ParameterTrainer.load(resume, tensors);
    for (const { name, data } of tensors) data.set(saved?.parameters.get(name) ?? data);
    const trainer = new ParameterTrainer(tensors, saved?.optimizer ?? optimizer);
    return new AdapterTraining(session, basename(checkpoint.folder), begun, trainer);
  }

  /** Adds the gradients of a batch to those of the step to come. @throws ModelRequestError, NotANumberError */
  async forwardBackward(batch: BatchToTrain): Promise<TrainedTokens> {
    const { gradients, ...told } = await this.#session.train({ ...batch, adapter: this.#adapter });
    this.#trainer.accumulate(gradients);
    return told;
  }

  /** Returns the norm of all gradients together before they were clipped. */
  step(options: StepOptions): { readonly gradientNorm: number } {
    const taken = this.#trainer.step(options);
    // Another object, so that the session does not take the adapter for the one it has fed before.
    this.#adapter = { ...this.#adapter };
    return taken;
  }

  /** Throws away gradients that no step has used. */
  discard(): void {
    this.#trainer.discard();
  }

  /** Writes the gradients of the step to come, by the names of the tensors in a PEFT folder, and returns their norm. */
  async writeGradients(file: string): Promise<{ readonly gradientNorm: number }> {
    const shapes = new Map(tensorsOf(this.#adapter).map(({ name, shape }) => [name, shape]));
    const tensors = [...this.#trainer.gradients].map(([name, data]): NamedTensor => ({ name, shape: shapes.get(name) ?? [data.length], data }));
    await writeSafetensors(file, tensors);
    return { gradientNorm: this.#trainer.gradientNorm };
  }

  /** All that the next step depends on, into a new folder. */
  async save(folder: string): Promise<void> {
    if (this.#trainer.gradients.size > 0) throw new ModelRequestError('A training is saved between steps.');
    await this.#trainer.save(folder);
  }

  /** The adapter as it is now, as a PEFT folder, which must not be there yet. */
  async exportAdapter(folder: string): Promise<void> {
    const { rank, layers } = this.#adapter;
    await writeAdapter(folder, { rank, alpha: this.#alpha, baseModel: this.#baseModel, layers });
  }
}

function newAdapter({ config, folder }: Checkpoint, start: NewAdapter): Adapter {
  const { rank, alpha, projections, seed } = start;
  const layers = newAdapterLayers(config, start);
  return { name: 'new', folder, rank, scaling: alpha / rank, targets: projections, layers, version: `new ${seed}` };
}
