/** All paths are absolute. What is not there is left out. */
export interface WallsAround {
  readonly hidden: readonly string[];
  /** Shown although they lie in hidden folders. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** For the shell: runs the script in the environment variable `SCRIPT` behind walls. */
export interface WalledLine {
  readonly line: string;
  /** What the line reads from file descriptor 3. */
  readonly input?: Uint8Array;
  /** To be called once it has ended. */
  release(): void;
}
