import { randomBytes } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import { messageOf, type BackendConnection, type ConnectionState } from '../common/backend-connection.ts';
import { healthHtml, rowsHtml, type HealthWords } from './health-html.ts';
import { healthRows, MENDS, type FolderTests, type HealthFacts, type MendId } from './health-rows.ts';
import type { PoolStore } from '../workers/pool-store.ts';
import type { Signal } from '../common/signal.ts';
import { readTestSettings } from '../common/test-settings.ts';

export interface HealthPageOptions {
  readonly connection: BackendConnection;
  readonly poolStore: Pick<PoolStore, 'set'>;
  readonly extensionVersion: string;
  /** A key was stored or removed. */
  readonly keysChanged: Signal<string>;
  /** Runs a command of VS Code or of this extension. */
  readonly runCommand: (id: string) => Promise<void>;
  readonly report: (error: unknown) => void;
}

/** Message from the page: the pressed button and its subject. */
interface PageAct {
  readonly act: 'ready' | 'lookAgain' | MendId;
  readonly subject: string;
}
const ACTS: ReadonlySet<unknown> = new Set<PageAct['act']>(['ready', 'lookAgain', ...MENDS]);

const COMMANDS: Partial<Record<MendId, string>> = {
  addWorker: 'conductor.addWorker',
  showDemonstration: 'conductor.showDemonstration',
  setKey: 'conductor.setKey',
  chooseConductor: 'conductor.chooseConductor',
  chooseConductorModel: 'conductor.chooseConductorModel',
  chooseTestCommand: 'conductor.chooseTestCommand',
  manageTrust: 'workbench.trust.manage',
  showLogs: 'conductor.showLogs',
};

/** `Conductor: Show Health`: an editor page that lists what works and what is missing, with buttons for fixes. */
export class HealthPage {
  readonly #options: HealthPageOptions;
  readonly #tried = new Map<string, { readonly ok: boolean; readonly message: string }>();
  #panel: vscode.WebviewPanel | undefined;
  #facts: HealthFacts | undefined;
  /** Numbers the refreshes: only the result of the latest is shown. */
  #looks = 0;

  constructor(options: HealthPageOptions) {
    this.#options = options;
    options.connection.stateChanged.on(({ kind }) => {
      if (kind !== 'starting') this.#lookAgain();
    });
    options.keysChanged.on(() => this.#lookAgain());
  }

  /** Refreshes the page when VS Code's settings, folders or trust change. */
  watch(): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('conductor')) this.#lookAgain();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.#lookAgain()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#lookAgain()),
      { dispose: () => this.#panel?.dispose() },
    );
  }

  show(): void {
    if (this.#panel) return this.#panel.reveal();
    const options = { enableScripts: true, localResourceRoots: [] };
    const panel = vscode.window.createWebviewPanel('conductor.health', words().title, vscode.ViewColumn.Active, options);
    this.#panel = panel;
    panel.onDidChangeViewState(() => {
      if (panel.visible) this.#lookAgain();
    });
    panel.onDidDispose(() => {
      this.#panel = undefined;
      this.#tried.clear();
    });
    panel.webview.onDidReceiveMessage((raw: unknown) => {
      if (isPageAct(raw)) this.#act(raw).catch(this.#options.report);
    });
    panel.webview.html = healthHtml({ nonce: randomBytes(16).toString('hex'), language: vscode.env.language, words: words() });
  }

  async #act({ act, subject }: PageAct): Promise<void> {
    const { connection, runCommand } = this.#options;
    switch (act) {
      case 'ready':
      case 'lookAgain':
        this.#tried.clear();
        break;
      case 'tryWorker':
        await this.#try(subject);
        break;
      case 'restartBackend':
        this.#tried.clear();
        await connection.stopBackend();
        // The page then shows whether it starts.
        await connection.client().catch(() => undefined);
        break;
      case 'copyRemedy': {
        const remedy = this.#facts?.details?.sandbox.remedy;
        if (remedy === undefined) return;
        await vscode.env.clipboard.writeText(remedy);
        void vscode.window.showInformationMessage(vscode.l10n.t('Copied: {0}. Run it in a terminal, then restart the backend.', remedy));
        return;
      }
      case 'openWorkersFile': {
        const home = this.#facts?.details?.storage.home;
        if (home !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(path.join(home, 'workers.json')));
        return;
      }
      default: {
        const command = COMMANDS[act];
        if (command !== undefined) await runCommand(command);
      }
    }
    await this.#look({ asked: true });
  }

  /** Makes one or two small real calls at the user's request. */
  async #try(id: string): Promise<void> {
    const { connection } = this.#options;
    const worker = this.#facts?.pool?.workers.find((status) => status.worker.id === id)?.worker;
    if (!worker) return;
    this.#post(vscode.l10n.t('Trying "{0}" …', id));
    const { ok, message } = await connection.request('worker/try', { worker });
    this.#tried.set(id, { ok, message });
  }

  #lookAgain(): void {
    if (this.#panel) this.#look({ asked: false }).catch(this.#options.report);
  }

  /** @param asked whether the user requested it; otherwise a stopped backend is not started */
  async #look({ asked }: { asked: boolean }): Promise<void> {
    if (!this.#panel) return;
    this.#looks += 1;
    const look = this.#looks;
    const facts = await this.#gather(asked);
    if (look !== this.#looks) return;
    this.#facts = facts;
    this.#post(this.#summary());
  }

  #summary(): string {
    const open = this.#rows().filter(({ state }) => state === 'missing' || state === 'broken').length;
    if (open === 0) return vscode.l10n.t('Everything that is needed is there.');
    return open === 1 ? vscode.l10n.t('1 problem needs your attention.') : vscode.l10n.t('{0} problems need your attention.', open);
  }

  #rows(): ReturnType<typeof healthRows> {
    return this.#facts ? healthRows(this.#facts, vscode.l10n) : [];
  }

  #post(summary: string): void {
    void this.#panel?.webview.postMessage({ rows: rowsHtml(this.#rows(), words()), summary });
  }

  async #gather(asked: boolean): Promise<HealthFacts> {
    const { connection, poolStore, extensionVersion } = this.#options;
    const common = { extensionVersion, trusted: vscode.workspace.isTrusted, tried: this.#tried };
    try {
      if (!asked && connection.state.kind !== 'connected') throw new Error(whyNotConnected(connection.state));
      const details = await connection.request('backend/healthDetails', {});
      const [pool, models, folders] = await Promise.all([
        connection.request('pool/get', {}).catch(() => undefined),
        connection.request('models/list', {}).catch(() => undefined),
        this.#folders(),
      ]);
      if (pool) poolStore.set(pool);
      return { ...common, backendProblem: undefined, details, pool, models, folders };
    } catch (error) {
      return { ...common, backendProblem: messageOf(error), details: undefined, pool: undefined, models: undefined, folders: [] };
    }
  }

  async #folders(): Promise<FolderTests[]> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
    if (!vscode.workspace.isTrusted) return [];
    return Promise.all(folders.map(async ({ uri, name }) => {
      const tests = await this.#options.connection.request('tests/find', { workspace: uri.fsPath }).catch(() => undefined);
      return { name, chosen: readTestSettings(uri).testCommand, found: tests?.found };
    }));
  }
}

/** Checked by hand: the schema library is loaded with the connection, not at VS Code's start. */
function isPageAct(raw: unknown): raw is PageAct {
  return typeof raw === 'object' && raw !== null && 'act' in raw && ACTS.has(raw.act) && 'subject' in raw && typeof raw.subject === 'string';
}

function whyNotConnected(state: ConnectionState): string {
  return state.kind === 'unavailable' ? state.message : vscode.l10n.t('It was stopped.');
}

function words(): HealthWords {
  return {
    title: vscode.l10n.t('Conductor: Health'),
    introduction: vscode.l10n.t('What Conductor needs on this machine, what works, and how to fix the rest.'),
    lookAgain: vscode.l10n.t('Look Again'),
    looking: vscode.l10n.t('Looking …'),
    states: {
      works: vscode.l10n.t('Works.'),
      missing: vscode.l10n.t('Missing.'),
      broken: vscode.l10n.t('Does not work.'),
      note: vscode.l10n.t('Good to know.'),
    },
  };
}
