import type { BatchGradients, GradientRequest } from '../decoder/gradient-run.ts';
import type { AdamWOptions } from './adamw.ts';
import type { NewAdapter } from './new-adapter.ts';
import type { ParameterTrainer, StepOptions } from './parameter-trainer.ts';

export interface TrainerStart {
  /** A PEFT folder to continue from, or a new adapter, which changes nothing yet. Absent if the weights themselves are trained. */
  readonly adapter?: string | NewAdapter | undefined;
  readonly optimizer: AdamWOptions;
  /** A folder that `save` wrote for the same adapter or weights: parameters and optimizer are restored from it. */
  readonly resume?: string | undefined;
}

export type BatchToTrain = Omit<GradientRequest, 'adapter'>;

/** The results of a batch other than the gradients. */
export type TrainedTokens = Omit<BatchGradients, 'gradients'>;

/** What a trainer trains: an adapter (`adapter-target.ts`) or all weights of a model (`weights-target.ts`). */
export interface TrainTarget {
  gradientsOf(batch: BatchToTrain): Promise<BatchGradients>;
  /** Called after each change of the parameters. */
  changed(): void;
  /** Writes the trained adapter or weights to a new folder, in the standard format. */
  exportTo(folder: string): Promise<void>;
}

/** Trains an adapter or the weights of a model. Folders and files are absolute. A folder appears complete or not at all. */
export class Trainer {
  readonly #target: TrainTarget;
  readonly #parameters: ParameterTrainer;

  constructor(target: TrainTarget, parameters: ParameterTrainer) {
    this.#target = target;
    this.#parameters = parameters;
  }

  /** Adds the gradients of a batch to those of the next step. @throws ModelRequestError, NotANumberError */
  async forwardBackward(batch: BatchToTrain): Promise<TrainedTokens> {
    const { gradients, ...tokens } = await this.#target.gradientsOf(batch);
    this.#parameters.accumulate(gradients);
    return tokens;
  }

  /** Returns the global norm of the gradients before clipping. */
  step(options: StepOptions): { readonly gradientNorm: number } {
    const taken = this.#parameters.step(options);
    this.#target.changed();
    return taken;
  }

  /** Discards gradients that no step has used. */
  discard(): void {
    this.#parameters.discard();
  }

  /** Writes the gradients of the next step, by the names of the tensors in their own files, and returns their norm. */
  writeGradients(file: string): Promise<{ readonly gradientNorm: number }> {
    return this.#parameters.writeGradients(file);
  }

  /** Writes everything that the next step depends on into a new folder. Call it only between steps. */
  save(folder: string): Promise<void> {
    return this.#parameters.save(folder);
  }

  exportTo(folder: string): Promise<void> {
    return this.#target.exportTo(folder);
  }
}
