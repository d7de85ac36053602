/** How the walls of Linux are made, the one that is tried first in front: by bubblewrap, or by the same calls of the kernel without it. */
export const WALLS_KINDS = ['bubblewrap', 'namespaces'] as const;
export type WallsKind = (typeof WALLS_KINDS)[number];

/** The environment variable that allows one kind only. */
const ONLY = 'CONDUCTOR_WALLS';

/** The kinds that this environment allows. @throws SandboxLineError if it names another one */
export function wallsFrom({ [ONLY]: only = '' }: NodeJS.ProcessEnv): readonly WallsKind[] {
  if (only === '') return WALLS_KINDS;
  const kind = WALLS_KINDS.find((known) => known === only);
  if (!kind) throw new SandboxLineError(`${ONLY} is "${only}": set it to ${WALLS_KINDS.join(' or ')}, or leave it out.`);
  return [kind];
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
