/** The command line was not understood; the message says what is wrong with it. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
