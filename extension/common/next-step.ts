import * as vscode from 'vscode';
import { plainMessage } from './plain-message.ts';

/** A button that does what is to be done next. */
export interface NextStep {
  readonly label: string;
  /** Id of one of VS Code's commands or of ours. */
  readonly command: string;
}

/** Nothing is broken: a command cannot do anything yet. It is told as information, with what to do first as buttons. */
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

/** What every command says that is about workers and finds none. */
export function noWorkerYet(): NextStepError {
  return new NextStepError(vscode.l10n.t('There is no worker yet.'), addWorkerStep());
}

/** Says it and takes the step that the person chooses, if any. */
export async function offerSteps(message: string, steps: readonly NextStep[]): Promise<void> {
  const chosen = await vscode.window.showInformationMessage(plainMessage(message), ...steps.map(({ label }) => label));
  const step = steps.find(({ label }) => label === chosen);
  if (step) await vscode.commands.executeCommand(step.command);
}
