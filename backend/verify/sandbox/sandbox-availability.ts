import type { WallsKind } from './walls/walled-line.ts';

export interface SandboxAvailability {
  readonly available: boolean;
  /** What makes the walls of a command. Only on Linux, and not in a container. */
  readonly walls?: WallsKind;
  /** What is missing and what to do about it. */
  readonly reason?: string;
  /** The command line that brings what is missing, for people to copy. */
  readonly remedy?: string;
}
