export interface SandboxAvailability {
  readonly available: boolean;
  /** What is missing and what to do about it. */
  readonly reason?: string;
  /** The command line that brings what is missing, for people to copy. */
  readonly remedy?: string;
}
