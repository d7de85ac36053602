import * as vscode from 'vscode';
import { plainMessage } from './plain-message.ts';

/** A button for a suggested next action. */
export interface NextStep {
  readonly label: string;
  /** Id of a command of VS Code or of this extension. */
  readonly command: string;
}

/**
 * A command cannot run yet because something is missing. Shown as information rather than as an error, with buttons for what to do first.
 */
export class NextStepError extends Error {
  override readonly name = 'NextStepError';
  readonly steps: readonly NextStep[];

  constructor(message: string, ...steps: readonly NextStep[]) {
    super(message);
    this.steps = steps;
  }
}

export const addWorkerStep = (): NextStep => ({ label: vscode.l10n.t('Add Worker'), command: 'conductor.addWorker' });
export const demonstrationStep = (): NextStep => ({ label: vscode.l10n.t('Show Demonstration'), command: 'conductor.showDemonstration' });
export const solveStep = (): NextStep => ({ label: vscode.l10n.t('Ask a Question'), command: 'conductor.solve' });
export const setKeyStep = (): NextStep => ({ label: vscode.l10n.t('Set Key'), command: 'conductor.setKey' });
export const manageTrustStep = (): NextStep => ({ label: vscode.l10n.t('Manage Trust'), command: 'workbench.trust.manage' });
export const openFolderStep = (): NextStep => ({ label: vscode.l10n.t('Open Folder'), command: 'workbench.action.files.openFolder' });

/** Thrown by every command that needs a worker when there is none. */
export function noWorkerYet(): NextStepError {
  return new NextStepError(vscode.l10n.t('There is no worker yet.'), addWorkerStep());
}

/** Shows the message and runs the step that the user chooses. Does not wait for a choice. */
export function offerSteps(message: string, steps: readonly NextStep[]): void {
  const run = async (): Promise<void> => {
    const chosen = await vscode.window.showInformationMessage(plainMessage(message), ...steps.map(({ label }) => label));
    const step = steps.find(({ label }) => label === chosen);
    if (step) await vscode.commands.executeCommand(step.command);
  };
  // Each command reports its own failure.
  run().catch(() => undefined);
}
