import * as vscode from 'vscode';
import { manageTrustStep, NextStepError, openFolderStep } from '../common/next-step.ts';
import { readSettings } from '../common/settings.ts';
import { readTestSettings } from '../common/test-settings.ts';

/**
 * `Conductor: Verify My Changes`: verifies the uncommitted changes with the verifier that judges answers, without a model. Runs `conductor
 * verify` as a task, so that a terminal shows the progress and can stop it.
 */
export class VerifyChanges {
  readonly #extensionFolder: vscode.Uri;

  constructor(extensionFolder: vscode.Uri) {
    this.#extensionFolder = extensionFolder;
  }

  /** @throws NextStepError if there is no folder or it is not trusted */
  async run(): Promise<void> {
    const folder = await chosenFolder();
    if (folder) await vscode.tasks.executeTask(this.#taskFor(folder));
  }

  #taskFor(folder: vscode.WorkspaceFolder): vscode.Task {
    const { nodePath } = readSettings();
    const script = vscode.Uri.joinPath(this.#extensionFolder, 'dist', 'cli.mjs').fsPath;
    // ELECTRON_RUN_AS_NODE makes VS Code's Electron behave as Node.
    const asNode = nodePath === undefined && 'electron' in process.versions;
    const execution = new vscode.ProcessExecution(
      nodePath ?? process.execPath, [script, 'verify', '--workspace', folder.uri.fsPath, ...testOptions(folder)],
      { cwd: folder.uri.fsPath, ...(asNode && { env: { ELECTRON_RUN_AS_NODE: '1' } }) },
    );
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

/** The user's test settings. If they say to run no tests, the detected tests run anyway, because the command asks for them. */
function testOptions({ uri }: vscode.WorkspaceFolder): string[] {
  const { testCommand, testRunner, testReports, testImage } = readTestSettings(uri);
  const options = { command: testCommand, runner: testRunner, reports: testReports, image: testImage };
  return Object.entries(options).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
}
