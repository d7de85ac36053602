import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { messageOf, type BackendConnection } from '../common/backend-connection.ts';
import { commandLine } from '../common/command-line.ts';
import { manageTrustStep, NextStepError } from '../common/next-step.ts';
import { EndpointProcess } from './endpoint-process.ts';

export interface ServeOptions {
  readonly connection: Pick<BackendConnection, 'client'>;
  readonly extensionFolder: vscode.Uri;
}

const NAME = /^[\w .-]{1,64}$/;

/** The switch of `conductor serve`: off until a person turns it on, and off again with the window. */
export class ServeCommands {
  readonly #options: ServeOptions;
  readonly #endpoint = new EndpointProcess();
  readonly #item: vscode.StatusBarItem;

  constructor(options: ServeOptions) {
    this.#options = options;
    this.#item = vscode.window.createStatusBarItem('conductor.serve', vscode.StatusBarAlignment.Right);
    this.#item.name = vscode.l10n.t('Conductor: endpoint');
    this.#item.command = 'conductor.serve';
    this.#endpoint.changed.on((address) => this.#show(address));
  }

  /** Turns the endpoint on; where it is on, asks what to do with it. */
  async serve(): Promise<void> {
    requireTrusted();
    const { address } = this.#endpoint;
    if (address !== undefined) return this.#ask(address);
    // Workers' keys may be in this window alone, which gives them to the backend.
    await this.#options.connection.client();
    const port = vscode.workspace.getConfiguration('conductor').get('serve.port', 4_100);
    try {
      await this.#told(await this.#endpoint.start(this.#commandLine('--port', String(port), '--until-input-ends')));
    } catch (error) {
      throw new Error(vscode.l10n.t('The endpoint did not start: {0} Another port can be set: conductor.serve.port.', messageOf(error)));
    }
  }

  /** Makes a key for a program, which is shown once. */
  async addKey(): Promise<void> {
    requireTrusted();
    const name = await vscode.window.showInputBox({
      title: vscode.l10n.t('Key for a Program (1/2)'), prompt: vscode.l10n.t('The name of the program, such as "zed". Its key can be taken back by "conductor serve key remove".'), ignoreFocusOut: true,
      validateInput: (text) => (NAME.test(text) ? undefined : vscode.l10n.t('A name has 1 to 64 letters, digits, spaces, dots, dashes.')),
    });
    if (name === undefined) return;
    const limit = await vscode.window.showInputBox({
      title: vscode.l10n.t('Key for a Program (2/2)'), prompt: vscode.l10n.t('What it may cost in all, in dollars. Empty: no limit of its own.'), ignoreFocusOut: true,
      validateInput: (text) => (text.trim() === '' || Number(text) > 0 ? undefined : vscode.l10n.t('An amount in dollars, such as 5.')),
    });
    if (limit === undefined) return;
    const { command, args, env } = this.#commandLine('key', 'add', name, ...(limit.trim() === '' ? [] : ['--max-usd', limit.trim()]));
    const key = await promisify(execFile)(command, args, { env: { ...process.env, ...env } }).then(({ stdout }) => stdout.trim(), (error: unknown) => {
      const [line = messageOf(error)] = String((error as { stderr?: unknown }).stderr ?? '').trim().split('\n').filter((one) => one !== '');
      throw new Error(line);
    });
    const copy = vscode.l10n.t('Copy Key');
    const chosen = await vscode.window.showInformationMessage(vscode.l10n.t('The key for "{0}" is made. Only its hash is kept, so copy it now.', name), { modal: true }, copy);
    if (chosen === copy) await vscode.env.clipboard.writeText(key);
  }

  dispose(): void {
    this.#endpoint.dispose();
    this.#item.dispose();
  }

  #commandLine(...args: readonly string[]): ReturnType<typeof commandLine> {
    return commandLine(this.#options.extensionFolder, 'serve', ...args);
  }

  async #told(address: string): Promise<void> {
    const [add, copy] = [vscode.l10n.t('Add Key'), vscode.l10n.t('Copy Address')];
    // The command is done; what is chosen may come much later.
    void vscode.window.showInformationMessage(vscode.l10n.t('Programs of this computer reach Conductor at {0}, each with its own key.', address), add, copy).then(async (chosen) => {
      if (chosen === add) await vscode.commands.executeCommand('conductor.addServeKey');
      if (chosen === copy) await vscode.env.clipboard.writeText(address);
    });
  }

  async #ask(address: string): Promise<void> {
    const [off, add, copy] = [vscode.l10n.t('Turn the endpoint off'), vscode.l10n.t('Add a key for a program'), vscode.l10n.t('Copy the address')];
    const chosen = await vscode.window.showQuickPick([off, add, copy], { title: address });
    if (chosen === off) await this.#endpoint.stop();
    if (chosen === add) await this.addKey();
    if (chosen === copy) await vscode.env.clipboard.writeText(address);
  }

  #show(address: string | undefined): void {
    if (address === undefined) return this.#item.hide();
    const { host } = new URL(address);
    this.#item.text = `$(broadcast) ${host}`;
    this.#item.tooltip = vscode.l10n.t('Conductor is a model for programs of this computer at {0}.', address);
    this.#item.accessibilityInformation = { label: vscode.l10n.t('Conductor: endpoint at {0}. Asks what to do with it.', host) };
    this.#item.show();
  }
}

function requireTrusted(): void {
  if (vscode.workspace.isTrusted) return;
  throw new NextStepError(vscode.l10n.t('This workspace is not trusted, so no program is served from its window. Trust it, then try again.'), manageTrustStep());
}
