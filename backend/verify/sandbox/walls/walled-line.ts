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

/** A shell line that runs the script in the environment variable `SCRIPT` in the sandbox. */
export interface WalledLine {
  readonly line: string;
  /** The line's input on file descriptor 3. */
  readonly input?: Uint8Array;
  /** Must be called when the line has ended. */
  release(): void;
}
