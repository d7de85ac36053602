export interface AdapterErrorData {
  readonly folder: string;
  /** The field of adapter_config.json that is at fault, where it is one. */
  readonly field?: string | undefined;
  /** The tensor of adapter_model.safetensors that is at fault, where it is one. */
  readonly tensor?: string | undefined;
  /** One sentence that says what is wrong and what to do. */
  readonly message: string;
  readonly cause?: unknown;
}

/** A PEFT folder that cannot be used with the model at hand. Damaged files are CheckpointErrors, as those of models are. */
export class AdapterError extends Error {
  override readonly name = 'AdapterError';
  readonly folder: string;
  readonly field: string | undefined;
  readonly tensor: string | undefined;

  constructor({ folder, field, tensor, message, cause }: AdapterErrorData) {
    super(message, { cause });
    this.folder = folder;
    this.field = field;
    this.tensor = tensor;
  }
}
