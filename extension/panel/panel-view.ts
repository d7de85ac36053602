import * as vscode from 'vscode';
import { PanelPage, type PanelPageOptions } from './panel-page.ts';

export const PANEL_VIEW = 'conductor.workflow';

/** The panel in the side bar. */
export class PanelView implements vscode.WebviewViewProvider {
  readonly #options: PanelPageOptions;
  #page: PanelPage | undefined;

  constructor(options: PanelPageOptions) {
    this.#options = options;
  }

  get isVisible(): boolean {
    return this.#page?.isVisible ?? false;
  }

  register(): vscode.Disposable {
    return vscode.window.registerWebviewViewProvider(PANEL_VIEW, this);
  }

  /** Reveals the panel. */
  async show(): Promise<void> {
    await vscode.commands.executeCommand(`${PANEL_VIEW}.focus`);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const page = new PanelPage(view, 'side', this.#options);
    this.#page = page;
    view.onDidChangeVisibility(() => page.update());
    view.onDidDispose(() => {
      page.dispose();
      if (this.#page === page) this.#page = undefined;
    });
  }
}
