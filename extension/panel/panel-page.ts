import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { PageCommand, PageMessage, PageQuestion, ReplyMessage } from '../../backend/protocol/panel-messages.ts';
import { messageOf } from '../common/backend-connection.ts';
import { panelHtml, type Place } from '../common/panel-html.ts';
import type { PanelStateSource } from './panel-state.ts';
import { StateSender } from './state-sender.ts';
import { Throttle } from './throttle.ts';

/** Ten states a second look smooth and leave time for other work on a slow machine. */
const STATE_INTERVAL_MS = 100;

export interface PanelPageOptions {
  readonly extensionUri: vscode.Uri;
  readonly source: PanelStateSource;
  readonly onCommand: (command: PageCommand) => void;
  /** @throws an error that the page shows instead of a reply */
  readonly onQuestion: (question: PageQuestion) => Promise<unknown>;
  readonly onProblem: (problem: string) => void;
}

/** The VS Code object that holds the page: the side bar's view or an editor tab. */
export type PageHolder = Pick<vscode.WebviewView | vscode.WebviewPanel, 'webview' | 'visible'>;

/**
 * One instance of the page. It keeps no state: it gets the whole state when it reports ready, and on every change while it is visible. VS
 * Code discards a hidden page; the new one reports ready again.
 */
export class PanelPage {
  readonly #options: PanelPageOptions;
  readonly #holder: PageHolder;
  readonly #throttle: Throttle;
  readonly #sender = new StateSender();
  readonly #stopListening: () => void;

  constructor(holder: PageHolder, place: Place, options: PanelPageOptions) {
    this.#options = options;
    this.#holder = holder;
    this.#throttle = new Throttle(() => this.#postState(), STATE_INTERVAL_MS);
    this.#stopListening = options.source.changed.on(() => this.update());
    this.#load(place);
  }

  get isVisible(): boolean {
    return this.#holder.visible;
  }

  /** Sends the state soon if the page is visible. */
  update(): void {
    if (this.isVisible) this.#throttle.request();
  }

  /** Call after VS Code has disposed of the view or the tab. */
  dispose(): void {
    this.#stopListening();
  }

  #load(place: Place): void {
    const { extensionUri, onProblem } = this.#options;
    const { webview } = this.#holder;
    const dist = vscode.Uri.joinPath(extensionUri, 'dist');
    webview.options = { enableScripts: true, localResourceRoots: [dist, vscode.Uri.joinPath(extensionUri, 'media')] };
    webview.onDidReceiveMessage(async (raw: unknown) => {
      const { pageMessageSchema } = await import('../../backend/protocol/panel-messages.ts');
      const message = pageMessageSchema.safeParse(raw);
      if (message.success) this.#receive(message.data);
      else onProblem(`The panel sent a message that is none: ${message.error.message}`);
    });
    webview.html = panelHtml({
      cspSource: webview.cspSource,
      nonce: randomBytes(16).toString('hex'),
      scriptUri: webview.asWebviewUri(vscode.Uri.joinPath(dist, 'webview.js')).toString(),
      styleUris: [webview.asWebviewUri(vscode.Uri.joinPath(dist, 'webview.css')).toString()],
      title: 'Conductor',
      language: vscode.env.language,
      texts: vscode.l10n.bundle,
      place,
    });
  }

  #receive(message: PageMessage): void {
    if ('ask' in message) {
      this.#reply(message).catch((error: unknown) => this.#options.onProblem(messageOf(error)));
      return;
    }
    // A new page has no state yet, so it bypasses the throttle.
    if (message.type === 'ready') {
      this.#sender.startAnew();
      this.#postState();
    }
    this.#options.onCommand(message);
  }

  async #reply(question: PageQuestion): Promise<void> {
    const { ask } = question;
    const reply = await this.#options.onQuestion(question).then(
      (value): ReplyMessage => ({ type: 'reply', ask, value }),
      (error: unknown): ReplyMessage => ({ type: 'reply', ask, problem: messageOf(error) }),
    );
    void this.#holder.webview.postMessage(reply);
  }

  #postState(): void {
    void this.#holder.webview.postMessage(this.#sender.message(this.#options.source.state));
  }
}
