/** There is no model of this name on this machine. */
export class ModelMissingError extends Error {
  override readonly name = 'ModelMissingError';
  readonly model: string;

  /** `folder`: the path that was also searched, in addition to the downloads. */
  constructor(model: string, folder?: string) {
    const looked = folder === undefined ? '' : `, and no folder ${folder}`;
    super(
      `There is no model ${model} on this machine${looked}: download it with "Conductor: Choose Conductor Model" or "conductor model pull".`,
    );
    this.model = model;
  }
}
