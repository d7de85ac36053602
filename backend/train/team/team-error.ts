/** A machine of a team cannot go on with the others. The message is one sentence that says why and what to do. */
export class TeamError extends Error {
  override readonly name = 'TeamError';
}
