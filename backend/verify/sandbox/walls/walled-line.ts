/** All paths are absolute. Missing ones are ignored. */
export interface WallsAround {
  readonly hidden: readonly string[];
  /** Folders inside hidden ones that stay readable. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** A shell line that runs the script in the environment variable `SCRIPT` in the sandbox. */
export interface WalledLine {
  readonly line: string;
  /** The line's input on file descriptor 3. */
  readonly input?: Uint8Array;
  /** Must be called when the line has ended. */
  release(): void;
}
