import * as vscode from 'vscode';

export const SCHEMES = { before: 'conductor-before', after: 'conductor-after', context: 'conductor-context' } as const;

/** Read-only documents for editors: both sides of a review, and the exact text that is sent with a question. */
export class VirtualDocuments implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;

  register(): vscode.Disposable {
    const providers = Object.values(SCHEMES).map((scheme) => vscode.workspace.registerTextDocumentContentProvider(scheme, this));
    return vscode.Disposable.from(this.#changed, ...providers);
  }

  put(uri: vscode.Uri, text: string): void {
    this.#texts.set(uri.toString(), text);
    this.#changed.fire(uri);
  }

  remove(uri: vscode.Uri): void {
    this.#texts.delete(uri.toString());
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? '';
  }
}
