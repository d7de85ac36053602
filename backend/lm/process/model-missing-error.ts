/** No model of this name is on this machine. */
export class ModelMissingError extends Error {
  override readonly name = 'ModelMissingError';
  readonly model: string;

  constructor(model: string) {
    super(`There is no model ${model} on this machine: download it with "Conductor: Choose Conductor Model" or "conductor model pull".`);
    this.model = model;
  }
}
