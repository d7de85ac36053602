import type { TrainingRequirement } from '../../protocol/training.ts';

/** A training cannot be made, or cannot go on. The message is one sentence that says why and what to do. */
export class TrainingError extends Error {
  override readonly name = 'TrainingError';
  /** What is missing, where that is known before the training starts. */
  readonly missing: TrainingRequirement | undefined;

  constructor(message: string, missing?: TrainingRequirement) {
    super(message);
    this.missing = missing;
  }
}

/** There is no such training, or it cannot do this in its present state. */
export class TrainingRefusedError extends Error {
  override readonly name = 'TrainingRefusedError';
}
