/** Where keys come from: the environment for the command line, VS Code's SecretStorage for a window. They stay in memory. */
export interface KeySource {
  /**
   * The value of a key. May wait for a client that has it, until the signal aborts.
   * @throws WorkerError `missing-key` when no client has it.
   */
  get(name: string, signal: AbortSignal): Promise<string>;
  /** The server refused the key: the next call asks again. */
  forget(name: string): void;
}
