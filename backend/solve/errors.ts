/** No run has this id. */
export class RunNotFoundError extends Error {
  override readonly name = 'RunNotFoundError';
  readonly runId: string;

  constructor(runId: string) {
    super(`There is no run "${runId}"; "conductor runs list" shows those there are.`);
    this.runId = runId;
  }
}

/** The run cannot be started, resumed or cancelled as things stand; the message says why and what to do. */
export class RunRefusedError extends Error {
  override readonly name = 'RunRefusedError';
}
