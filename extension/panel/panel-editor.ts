import * as vscode from 'vscode';
import { PanelPage, type PanelPageOptions } from './panel-page.ts';

export const PANEL_EDITOR = 'conductor.workflowEditor';

/** The panel in an editor tab, with room for the plan as a graph. There is at most one tab. It is restored after a reload of the window. */
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

  /** Opens the tab, or reveals the open one. */
  show(): void {
    if (this.#panel) this.#panel.reveal();
    else this.#adopt(vscode.window.createWebviewPanel(PANEL_EDITOR, 'Conductor', vscode.ViewColumn.Active, { enableScripts: true }));
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    // The user may have opened one while the window was loading.
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

/** True if the panel's tab is active. VS Code then has no active text editor. */
export function isPanelTabActive(): boolean {
  const { input } = vscode.window.tabGroups.activeTabGroup.activeTab ?? {};
  // VS Code adds a prefix to the view type.
  return input instanceof vscode.TabInputWebview && input.viewType.endsWith(PANEL_EDITOR);
}
