/** How the walls of Linux are made: by bubblewrap, or by the same calls of the kernel without it. */
export const WALLS_KINDS = ['bubblewrap', 'namespaces'] as const;
export type WallsKind = (typeof WALLS_KINDS)[number];

/** The environment variable that allows one kind only. */
const ONLY = 'CONDUCTOR_WALLS';

export const UNKNOWN_WALLS = `${ONLY} names no walls: set it to ${WALLS_KINDS.join(' or ')}, or leave it out.`;

/**
 * The kinds that this environment allows, the one that is tried first in front. Undefined if it names none. Root owns devices and the program
 * of bubblewrap: behind its walls, a command of root can change the rights of both for the whole machine.
 */
export function wallsFrom({ [ONLY]: only = '' }: NodeJS.ProcessEnv, isRoot: boolean): readonly WallsKind[] | undefined {
  if (only === '') return isRoot ? WALLS_KINDS.toReversed() : WALLS_KINDS;
  return WALLS_KINDS.some((kind) => kind === only) ? [only as WallsKind] : undefined;
}

/** All paths are absolute. Missing ones are ignored. */
export interface WallsAround {
  readonly hidden: readonly string[];
  /** Folders inside hidden ones that stay readable. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** A folder that may be written and is at another place inside, where nothing is outside. Linux only. */
  readonly shown?: ShownFolder;
}

/** Both absolute, without symbolic links. */
export interface ShownFolder {
  readonly folder: string;
  readonly at: string;
}

/** The walls cannot be written: something is unknown, or too large. */
export class SandboxLineError extends Error {
  override readonly name = 'SandboxLineError';
}

/** A shell line that runs the script in the environment variable `SCRIPT` in the sandbox. */
export interface WalledLine {
  readonly line: string;
  /** The line's input on file descriptor 3. */
  readonly input?: Uint8Array;
  /** Must be called when the line has ended. */
  release(): void;
}
