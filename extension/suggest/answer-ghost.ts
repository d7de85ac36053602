import * as vscode from 'vscode';

interface Shown {
  readonly document: vscode.TextDocument;
  readonly position: vscode.Position;
  readonly text: string;
  readonly registration: vscode.Disposable;
}

/** Shows an answer as ghost text at the place of the question, until the user accepts it or leaves. */
export class AnswerGhost implements vscode.InlineCompletionItemProvider {
  #shown: Shown | undefined;

  isIn(document: vscode.TextDocument): boolean {
    return this.#shown?.document === document;
  }

  /** Moves the cursor to the place of the answer and shows it. */
  async show(document: vscode.TextDocument, position: vscode.Position, text: string): Promise<void> {
    this.hide();
    const selection = new vscode.Range(position, position);
    await vscode.window.showTextDocument(document, { selection, preserveFocus: false });
    this.#shown = {
      document, position, text,
      registration: vscode.Disposable.from(
        vscode.languages.registerInlineCompletionItemProvider({ scheme: document.uri.scheme }, this),
        vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections: [to] }) => {
          if (textEditor.document !== document || !to || this.#rest(to.active) === undefined) this.hide();
        }),
      ),
    };
    await vscode.commands.executeCommand('editor.action.inlineSuggest.trigger');
  }

  hide(): void {
    this.#shown?.registration.dispose();
    this.#shown = undefined;
  }

  dispose(): void {
    this.hide();
  }

  provideInlineCompletionItems(document: vscode.TextDocument, position: vscode.Position): vscode.InlineCompletionItem[] {
    const rest = this.isIn(document) ? this.#rest(position) : undefined;
    return rest === undefined ? [] : [new vscode.InlineCompletionItem(rest, new vscode.Range(position, position))];
  }

  /** The rest of the answer if the user has typed its beginning up to the position. */
  #rest(position: vscode.Position): string | undefined {
    if (!this.#shown || position.isBefore(this.#shown.position)) return undefined;
    const { document, text } = this.#shown;
    const typed = document.getText(new vscode.Range(this.#shown.position, position));
    return text.startsWith(typed) && typed.length < text.length ? text.slice(typed.length) : undefined;
  }
}
