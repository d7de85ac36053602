import * as vscode from 'vscode';

/** Steps of the walkthrough. `walkthrough-progress.ts` says when they are true. */
export type WalkthroughStep = 'didDemonstrate' | 'didAddWorker' | 'didTest' | 'didAsk' | 'didSeeHealth';

/** Keys for `when` clauses in package.json, as `conductor.<name>`. */
export type ContextKey = WalkthroughStep | 'running' | 'resumable' | 'hasRun' | 'over' | 'hasAnswer' | 'hasWorker' | 'reviewing' | 'canUndo';

/** Sets VS Code's context keys, each only when it changes. */
export class ContextKeys {
  readonly #values = new Map<ContextKey, boolean>();

  set(key: ContextKey, value: boolean): void {
    if (this.#values.get(key) === value) return;
    this.#values.set(key, value);
    void vscode.commands.executeCommand('setContext', `conductor.${key}`, value);
  }
}
