/** The command line is not valid; the message says why. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
