import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { PageCommand, PageMessage, PageQuestion, ReplyMessage } from '../../backend/protocol/panel-messages.ts';
import { messageOf } from '../common/backend-connection.ts';
import { panelHtml, type Place } from './panel-html.ts';
import type { PanelStateSource } from './panel-state.ts';
import { StateSender } from './state-sender.ts';
import { Throttle } from './throttle.ts';

/** Ten states a second are smooth to read and leave a slow machine time for other things. */
const STATE_INTERVAL_MS = 100;

export interface PanelPageOptions {
  readonly extensionUri: vscode.Uri;
  readonly source: PanelStateSource;
  readonly onCommand: (command: PageCommand) => void;
  /** @throws what says why there is no reply, for the page to show */
  readonly onQuestion: (question: PageQuestion) => Promise<unknown>;
  readonly onProblem: (problem: string) => void;
}

/** What of VS Code shows the page: the side bar's view or an editor's tab. */
export type PageHolder = Pick<vscode.WebviewView | vscode.WebviewPanel, 'webview' | 'visible'>;

/**
 * The page in one place. It keeps nothing that matters: whenever it says that it is ready, and whenever something changes
 * while it is visible, it is sent the whole state. A hidden page is not kept alive; it is made again and asks.
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

  /** Sends the state soon, where somebody sees the page. */
  update(): void {
    if (this.isVisible) this.#throttle.request();
  }

  /** To be called once VS Code has disposed of what holds the page. */
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
      void this.#reply(message);
      return;
    }
    // A page that was just made has missed everything, so it does not wait its turn.
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
