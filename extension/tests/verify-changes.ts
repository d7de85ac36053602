import * as vscode from 'vscode';
import type { Verification } from '../../backend/protocol/panel-messages.ts';
import { commandLine } from '../common/command-line.ts';
import { manageTrustStep, NextStepError, openFolderStep } from '../common/next-step.ts';
import { readTestSettings } from '../common/test-settings.ts';

export interface VerifyChangesOptions {
  readonly extensionFolder: vscode.Uri;
  /** A folder of this window alone, which need not exist. */
  readonly storage: vscode.Uri;
  readonly showPanel: () => Promise<void>;
  readonly onVerification: (verification: Verification) => void;
  readonly report: (error: unknown) => void;
}

/**
 * `Conductor: Verify My Changes`: verifies the uncommitted changes with the verifier that judges answers, without a model. Runs `conductor
 * verify` as a task, so that a terminal shows the progress and can stop it; the panel shows the verdict, and what to do where there is none.
 */
export class VerifyChanges {
  readonly #options: VerifyChangesOptions;
  #count = 0;

  constructor(options: VerifyChangesOptions) {
    this.#options = options;
  }

  /** Resolves when the tests have begun. @throws NextStepError if there is no folder or it is not trusted */
  async run(): Promise<void> {
    const folder = await chosenFolder();
    if (!folder) return;
    const { showPanel, report } = this.#options;
    await showPanel();
    this.#follow(folder).catch(report);
  }

  /** Shows a verdict that was learned elsewhere. */
  show(result: Omit<Verification, 'id'>): void {
    this.#count += 1;
    this.#options.onVerification({ id: this.#count, ...result });
  }

  async #follow(folder: vscode.WorkspaceFolder): Promise<void> {
    const { clearVerdict, readVerdict, runToItsEnd } = await import('./follow-verification.ts');
    this.#count += 1;
    const verification = { id: this.#count, folder: folder.name };
    // The same one each time: a task with other arguments would get another terminal.
    const file = vscode.Uri.joinPath(this.#options.storage, 'verdict.json').fsPath;
    await clearVerdict(file);
    this.#options.onVerification(verification);
    await runToItsEnd(this.#taskFor(folder, file)).catch(this.#options.report);
    this.#options.onVerification({ ...verification, ...(await readVerdict(file)) });
  }

  #taskFor(folder: vscode.WorkspaceFolder, out: string): vscode.Task {
    const { command, args, env } = commandLine(this.#options.extensionFolder, ...verifyArguments(folder, out));
    const execution = new vscode.ProcessExecution(command, args, { cwd: folder.uri.fsPath, env });
    const task = new vscode.Task({ type: 'process' }, folder, vscode.l10n.t('Verify My Changes'), 'Conductor', execution, []);
    task.presentationOptions = { clear: true, echo: false, focus: false, panel: vscode.TaskPanelKind.Dedicated, reveal: vscode.TaskRevealKind.Always };
    return task;
  }
}

async function chosenFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  if (folders.length === 0) throw new NextStepError(vscode.l10n.t('No folder is open: open the one that was changed.'), openFolderStep());
  if (!vscode.workspace.isTrusted) {
    throw new NextStepError(vscode.l10n.t('This workspace is not trusted. Trust it to run its tests.'), manageTrustStep());
  }
  if (folders.length === 1) return folders[0];
  return vscode.window.showWorkspaceFolderPick({ placeHolder: vscode.l10n.t('Which folder’s changes do you want to verify?') });
}

/** Verifies the uncommitted changes of the folder and writes the verdict to the file `out`. */
export function verifyArguments(folder: vscode.WorkspaceFolder, out: string): string[] {
  return ['verify', '--workspace', folder.uri.fsPath, '--out', out, ...testOptions(folder)];
}

/** The user's test settings. If they say to run no tests, the detected tests run anyway, because the command asks for them. */
function testOptions({ uri }: vscode.WorkspaceFolder): string[] {
  const { testCommand, testRunner, testReports, testImage } = readTestSettings(uri);
  const options = { command: testCommand, runner: testRunner, reports: testReports, image: testImage };
  return Object.entries(options).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
}
