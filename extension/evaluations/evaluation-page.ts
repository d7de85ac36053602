import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { formatUsd } from '../../backend/protocol/figures.ts';
import { messageOf, type BackendConnection } from '../common/backend-connection.ts';
import { panelHtml } from '../common/panel-html.ts';
import { askUsd } from './evaluate-command.ts';
import { EvaluationState } from './evaluation-state.ts';

export interface EvaluationPageOptions {
  readonly connection: Pick<BackendConnection, 'request' | 'on' | 'connected'>;
  readonly extensionUri: vscode.Uri;
  readonly report: (error: unknown) => void;
}

/** The page of one evaluation, in an editor tab. Another evaluation that is opened takes its place. */
export class EvaluationPage {
  readonly #options: EvaluationPageOptions;
  #shown: { readonly panel: vscode.WebviewPanel; readonly state: EvaluationState } | undefined;

  constructor(options: EvaluationPageOptions) {
    this.#options = options;
  }

  open(folder: string): void {
    const { connection, report } = this.#options;
    this.#shown?.state.dispose();
    const panel = this.#shown?.panel ?? this.#create();
    const state = new EvaluationState({
      connection, folder,
      post: (message) => void panel.webview.postMessage(message),
      askBudget: async ({ usd, tokens }) => {
        const raised = await askUsd(usd);
        // Tokens are raised alike: they hold calls without a price.
        return raised === undefined ? undefined : { usd: raised, tokens: Math.max(tokens, Math.ceil((tokens * raised) / usd)) };
      },
      isRemovalMeant,
      gone: () => panel.dispose(),
      showResults: (file) => void vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(file)),
      report,
    });
    this.#shown = { panel, state };
    panel.reveal();
    state.refresh();
  }

  dispose(): void {
    this.#shown?.panel.dispose();
  }

  #create(): vscode.WebviewPanel {
    const { extensionUri, report } = this.#options;
    const dist = vscode.Uri.joinPath(extensionUri, 'dist');
    const title = vscode.l10n.t('Conductor: Evaluation');
    const panel = vscode.window.createWebviewPanel('conductor.evaluation', title, vscode.ViewColumn.Active, { enableScripts: true, localResourceRoots: [dist] });
    panel.iconPath = vscode.Uri.joinPath(extensionUri, 'media', 'icon.svg');
    panel.onDidDispose(() => {
      this.#shown?.state.dispose();
      this.#shown = undefined;
    });
    panel.onDidChangeViewState(() => {
      if (panel.visible) this.#shown?.state.refresh();
    });
    panel.webview.onDidReceiveMessage(async (raw: unknown) => {
      const { evaluationCommandSchema } = await import('../../backend/protocol/evaluation-page.ts');
      const command = evaluationCommandSchema.safeParse(raw);
      if (command.success) await this.#shown?.state.act(command.data).catch(report);
      else report(new Error(`The page sent a message that is none: ${messageOf(command.error)}`));
    });
    panel.webview.html = panelHtml({
      cspSource: panel.webview.cspSource,
      nonce: randomBytes(16).toString('hex'),
      scriptUri: panel.webview.asWebviewUri(vscode.Uri.joinPath(dist, 'evaluation.js')).toString(),
      styleUris: [panel.webview.asWebviewUri(vscode.Uri.joinPath(dist, 'evaluation.css')).toString()],
      title,
      language: vscode.env.language,
      texts: vscode.l10n.bundle,
      place: 'editor',
    });
    return panel;
  }
}

async function isRemovalMeant(usd: number): Promise<boolean> {
  const remove = vscode.l10n.t('Remove Evaluation');
  const detail = vscode.l10n.t('Its results and its answers, which have cost {0}, are deleted from this machine. Another evaluation of these tasks asks anew.', formatUsd(usd));
  return (await vscode.window.showWarningMessage(vscode.l10n.t('Remove this evaluation for good?'), { modal: true, detail }, remove)) === remove;
}
