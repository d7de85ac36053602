import * as vscode from 'vscode';
import { PanelPage, type PanelPageOptions } from './panel-page.ts';

export const PANEL_EDITOR = 'conductor.workflowEditor';

/** The same panel in a tab among the editors, with room for the plan as a graph. There is one at most; a reload of the window brings it back. */
export class PanelEditor implements vscode.WebviewPanelSerializer {
  readonly #options: PanelPageOptions;
  #panel: vscode.WebviewPanel | undefined;

  constructor(options: PanelPageOptions) {
    this.#options = options;
  }

  get isVisible(): boolean {
    return this.#panel?.visible ?? false;
  }

  register(): vscode.Disposable {
    return vscode.window.registerWebviewPanelSerializer(PANEL_EDITOR, this);
  }

  /** Opens the tab, or brings the one that is open to the front. */
  show(): void {
    if (this.#panel) this.#panel.reveal();
    else this.#adopt(vscode.window.createWebviewPanel(PANEL_EDITOR, 'Conductor', vscode.ViewColumn.Active, { enableScripts: true }));
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    // One may have been opened by hand while the window was still coming back.
    if (this.#panel) panel.dispose();
    else this.#adopt(panel);
  }

  #adopt(panel: vscode.WebviewPanel): void {
    const page = new PanelPage(panel, 'editor', this.#options);
    this.#panel = panel;
    panel.iconPath = vscode.Uri.joinPath(this.#options.extensionUri, 'media', 'icon.svg');
    panel.onDidChangeViewState(() => page.update());
    panel.onDidDispose(() => {
      page.dispose();
      if (this.#panel === panel) this.#panel = undefined;
    });
  }
}

/** Whether the person looks at the panel's tab: VS Code then knows of no active text editor. */
export function isPanelTabActive(): boolean {
  const { input } = vscode.window.tabGroups.activeTabGroup.activeTab ?? {};
  // VS Code puts a prefix of its own before the type.
  return input instanceof vscode.TabInputWebview && input.viewType.endsWith(PANEL_EDITOR);
}
