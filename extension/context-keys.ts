import * as vscode from 'vscode';

/** What `when` clauses in package.json ask about, as `conductor.<name>`. */
export type ContextKey = 'running' | 'resumable' | 'hasRun' | 'over' | 'hasAnswer' | 'hasWorker' | 'reviewing' | 'canUndo';

/** Sets VS Code's context keys, each only when it changes. */
export class ContextKeys {
  readonly #values = new Map<ContextKey, boolean>();

  set(key: ContextKey, value: boolean): void {
    if (this.#values.get(key) === value) return;
    this.#values.set(key, value);
    void vscode.commands.executeCommand('setContext', `conductor.${key}`, value);
  }
}
