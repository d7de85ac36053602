import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { PageMessage, StateMessage } from '../backend/protocol/panel-messages.ts';
import { panelHtml } from './panel-html.ts';
import type { PanelStateSource } from './panel-state.ts';
import { Throttle } from './throttle.ts';

export const PANEL_VIEW = 'conductor.workflow';

/** Ten states a second are smooth to read and leave a slow machine time for other things. */
const STATE_INTERVAL_MS = 100;

export interface PanelViewOptions {
  readonly extensionUri: vscode.Uri;
  readonly source: PanelStateSource;
  readonly onMessage: (message: PageMessage) => void;
  readonly onProblem: (problem: string) => void;
}

/**
 * The side panel. The page keeps nothing that matters: whenever it says that it is ready, and whenever something changes
 * while it is visible, it is sent the whole state. A hidden page is not kept alive; it is made again and asks.
 */
export class PanelView implements vscode.WebviewViewProvider {
  readonly #options: PanelViewOptions;
  readonly #throttle: Throttle;
  #view: vscode.WebviewView | undefined;

  constructor(options: PanelViewOptions) {
    this.#options = options;
    this.#throttle = new Throttle(() => this.#post(), STATE_INTERVAL_MS);
    options.source.changed.on(() => {
      if (this.#view?.visible) this.#throttle.request();
    });
  }

  get isVisible(): boolean {
    return this.#view?.visible ?? false;
  }

  register(): vscode.Disposable {
    return vscode.window.registerWebviewViewProvider(PANEL_VIEW, this);
  }

  /** Brings the panel to the front. */
  async show(): Promise<void> {
    await vscode.commands.executeCommand(`${PANEL_VIEW}.focus`);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { extensionUri, onProblem } = this.#options;
    const dist = vscode.Uri.joinPath(extensionUri, 'dist');
    this.#view = view;
    const { webview } = view;
    webview.options = { enableScripts: true, localResourceRoots: [dist, vscode.Uri.joinPath(extensionUri, 'media')] };
    webview.onDidReceiveMessage(async (raw: unknown) => {
      const { pageMessageSchema } = await import('../backend/protocol/panel-messages.ts');
      const message = pageMessageSchema.safeParse(raw);
      if (message.success) this.#receive(message.data);
      else onProblem(`The panel sent a message that is none: ${message.error.message}`);
    });
    view.onDidChangeVisibility(() => {
      if (view.visible) this.#throttle.request();
    });
    view.onDidDispose(() => {
      if (this.#view === view) this.#view = undefined;
    });
    webview.html = panelHtml({
      cspSource: webview.cspSource,
      nonce: randomBytes(16).toString('hex'),
      scriptUri: webview.asWebviewUri(vscode.Uri.joinPath(dist, 'webview.js')).toString(),
      styleUris: [webview.asWebviewUri(vscode.Uri.joinPath(dist, 'webview.css')).toString()],
      title: 'Conductor',
      language: vscode.env.language,
      texts: vscode.l10n.bundle,
    });
  }

  #receive(message: PageMessage): void {
    // A page that was just made has missed everything, so it does not wait its turn.
    if (message.type === 'ready') this.#post();
    this.#options.onMessage(message);
  }

  #post(): void {
    const message: StateMessage = { type: 'state', sentAt: Date.now(), state: this.#options.source.state };
    void this.#view?.webview.postMessage(message);
  }
}
