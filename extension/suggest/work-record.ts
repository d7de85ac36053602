import * as vscode from 'vscode';
import { MAX_OPEN_FILES } from '../../backend/protocol/suggestion-limits.ts';
import type { SuggestRequest } from '../../backend/protocol/suggestions.ts';
import { EditRecord } from './edit-record.ts';

/** Which files are open, and what was edited last. Only paths and the edited lines are told: the backend reads files by its own rules. */
export class WorkRecord {
  readonly #edits = new EditRecord();
  /** The documents in view, the last used first. */
  #used: readonly string[] = [];

  /** Follows the editors until the subscription is disposed. */
  watch(): vscode.Disposable {
    for (const editor of vscode.window.visibleTextEditors) this.#seen(editor);
    this.#seen(vscode.window.activeTextEditor);
    return vscode.Disposable.from(
      vscode.window.onDidChangeActiveTextEditor((editor) => this.#seen(editor)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#edits.close(uri.fsPath)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (document.uri.scheme !== 'file' || contentChanges.length === 0) return;
        this.#edits.changed(document.uri.fsPath, contentChanges.map(({ range: { start, end }, text }) => ({
          startLine: start.line, startCharacter: start.character, endLine: end.line, endCharacter: end.character, text,
        })));
      }),
      { dispose: () => this.#edits.clear() },
    );
  }

  /** The other open files of the file's folder, and the edits in it. @param line the cursor's */
  around(own: string, line: number): Pick<SuggestRequest, 'openFiles' | 'edits'> {
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(own));
    const isInFolder = (file: string): boolean => vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file)) === folder;
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).flatMap(({ input }) =>
      input instanceof vscode.TabInputText && input.uri.scheme === 'file' ? [input.uri.fsPath] : []);
    const open = new Set(tabs);
    const files = [...new Set([...this.#used.filter((file) => open.has(file)), ...tabs])];
    return {
      openFiles: files.filter((file) => file !== own && isInFolder(file)).slice(0, MAX_OPEN_FILES),
      edits: this.#edits.recent({ path: own, line }).filter(({ path }) => isInFolder(path)),
    };
  }

  #seen(editor: vscode.TextEditor | undefined): void {
    if (!editor || editor.document.uri.scheme !== 'file') return;
    const { document } = editor;
    this.#edits.open(document.uri.fsPath, () => document.getText());
    this.#used = [document.uri.fsPath, ...this.#used.filter((file) => file !== document.uri.fsPath)].slice(0, MAX_OPEN_FILES);
  }
}
