export interface AdapterErrorData {
  readonly folder: string;
  /** The invalid field of adapter_config.json, if any. */
  readonly field?: string | undefined;
  /** The invalid tensor of adapter_model.safetensors, if any. */
  readonly tensor?: string | undefined;
  /** One sentence that says what is wrong and what to do. */
  readonly message: string;
  readonly cause?: unknown;
}

/** The adapter cannot be used with the model. Damaged files give CheckpointErrors, as for models. */
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
