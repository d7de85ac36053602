import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { Records } from '../../backend/protocol/records.ts';
import { messageOf, type BackendConnection } from '../common/backend-connection.ts';
import { escapeHtml } from '../common/escape-html.ts';
import { recordsHtml, saidHtml, tableHtml, type RecordsWords } from './records-html.ts';

/** Message from the page: what was pressed; with `show`, the project, or nothing for all. */
interface PageAct {
  readonly act: 'show' | 'use' | 'useNot' | 'forget';
  readonly subject: string;
}
const ACTS: ReadonlySet<unknown> = new Set<PageAct['act']>(['show', 'use', 'useNot', 'forget']);

/** `Conductor: Show Records`: an editor page with what tests said of each worker, and what it cost. */
export class RecordsPage {
  readonly #connection: Pick<BackendConnection, 'request'>;
  readonly #report: (error: unknown) => void;
  #panel: vscode.WebviewPanel | undefined;
  /** The project that is shown; undefined: all. */
  #project: string | undefined;
  /** Numbers the requests: only the answer to the latest is shown. */
  #looks = 0;

  constructor({ connection, report }: { readonly connection: Pick<BackendConnection, 'request'>; readonly report: (error: unknown) => void }) {
    this.#connection = connection;
    this.#report = report;
  }

  show(): void {
    if (this.#panel) return this.#panel.reveal();
    const panel = vscode.window.createWebviewPanel('conductor.records', words().title, vscode.ViewColumn.Active, { enableScripts: true, localResourceRoots: [] });
    this.#panel = panel;
    this.#project = undefined;
    panel.onDidDispose(() => { this.#panel = undefined; });
    panel.webview.onDidReceiveMessage((raw: unknown) => {
      if (isPageAct(raw)) this.#act(raw).catch(this.#report);
    });
    const projects = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file').map(({ name, uri }) => ({ name, path: uri.fsPath }));
    panel.webview.html = recordsHtml({ nonce: randomBytes(16).toString('hex'), language: vscode.env.language, words: words(), projects });
  }

  dispose(): void {
    this.#panel?.dispose();
  }

  async #act({ act, subject }: PageAct): Promise<void> {
    if (act === 'show') this.#project = subject === '' ? undefined : subject;
    else if (act !== 'forget') await this.#connection.request('records/use', { used: act === 'use' });
    else if (!(await this.#forget())) return;
    await this.#look();
  }

  async #forget(): Promise<boolean> {
    const forget = vscode.l10n.t('Forget');
    const asked = this.#project === undefined
      ? vscode.l10n.t('Forget what tests said of workers in all projects?')
      : vscode.l10n.t('Forget what tests said of workers in {0}?', this.#project);
    if ((await vscode.window.showWarningMessage(asked, { modal: true, detail: vscode.l10n.t('The runs stay.') }, forget)) !== forget) return false;
    await this.#connection.request('records/forget', this.#scope());
    return true;
  }

  #scope(): { workspace?: string } {
    return this.#project === undefined ? {} : { workspace: this.#project };
  }

  async #look(): Promise<void> {
    this.#looks += 1;
    const look = this.#looks;
    const shown = await this.#connection.request('records/get', this.#scope()).then(shownOf, (error: unknown) => ({
      said: `<p>${escapeHtml(messageOf(error))}</p>`, table: '', used: false, known: false,
    }));
    if (look === this.#looks) void this.#panel?.webview.postMessage(shown);
  }
}

function shownOf(records: Records) {
  return { said: saidHtml(records, words()), table: tableHtml(records, words()), used: records.used, known: true };
}

/** Checked by hand: the schema library is loaded with the connection, not at VS Code's start. */
function isPageAct(raw: unknown): raw is PageAct {
  return typeof raw === 'object' && raw !== null && 'act' in raw && ACTS.has(raw.act) && 'subject' in raw && typeof raw.subject === 'string';
}

function words(): RecordsWords {
  return {
    title: vscode.l10n.t('Conductor: Records'),
    introduction: vscode.l10n.t('Which of your models earns its price? What your tests said of each worker, and what that cost. It is kept on this machine only.'),
    looking: vscode.l10n.t('Looking …'),
    where: vscode.l10n.t('Answers in'),
    allProjects: vscode.l10n.t('all projects'),
    details: vscode.l10n.t('By role and kind of question'),
    use: vscode.l10n.t('Choose workers by their records, and tell a Conductor that is a prompted model a line of them'),
    forget: vscode.l10n.t('Forget …'),
    none: vscode.l10n.t('Tests have judged no answer of a worker here yet. Simulated workers do not count.'),
    notInPool: vscode.l10n.t('not in the pool'),
    columns: {
      worker: vscode.l10n.t('Worker'),
      expected: vscode.l10n.t('Expected'),
      verified: vscode.l10n.t('Verified'),
      interval: vscode.l10n.t('95 % interval'),
      usdPerVerified: vscode.l10n.t('Cost of a verified answer'),
      usdPerAnswer: vscode.l10n.t('Cost of an answer'),
      time: vscode.l10n.t('Time of an answer'),
    },
    notes: [
      vscode.l10n.t('Expected: the share of verified answers to expect. With few answers it is drawn towards what is known of the worker elsewhere, and of all workers.'),
      vscode.l10n.t('A verdict is divided among the steps of its plan, and the newest answers count most.'),
      vscode.l10n.t('Cost of a verified answer: what the worker did, also in wrong answers, for its part of the verified ones. Where several worked on an answer, that is more than it cost there.'),
    ],
  };
}
