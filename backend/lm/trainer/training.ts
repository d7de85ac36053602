import type { TrainingRequest } from '../decoder/training-run.ts';
import type { AdamWOptions } from './adamw.ts';
import type { NewAdapter } from './new-adapter.ts';
import type { StepOptions } from './parameter-trainer.ts';

export interface TrainingStart {
  /** A PEFT folder to go on from, or a new adapter, which changes nothing yet; absent where the weights themselves are trained. */
  readonly adapter?: string | NewAdapter | undefined;
  readonly optimizer: AdamWOptions;
  /** A folder that `save` wrote of such a training: numbers and optimiser are taken from it. */
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

/** An adapter, or all weights of a model, in training. Folders and files are absolute; a folder appears whole or not at all. */
export interface Training {
  /** Adds the gradients of a batch to those of the step to come. @throws ModelRequestError, NotANumberError */
  forwardBackward(batch: BatchToTrain): Promise<TrainedTokens>;
  /** Returns the norm of all gradients together before they were clipped. */
  step(options: StepOptions): { readonly gradientNorm: number };
  /** Throws away gradients that no step has used. */
  discard(): void;
  /** Writes the gradients of the step to come, by the names of the tensors in their own files, and returns their norm. */
  writeGradients(file: string): Promise<{ readonly gradientNorm: number }>;
  /** All that the next step depends on, into a new folder; only between steps. */
  save(folder: string): Promise<void>;
  /** What was trained, as others read it, into a new folder. */
  exportTo(folder: string): Promise<void>;
}
