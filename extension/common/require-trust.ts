import * as vscode from 'vscode';
import { manageTrustStep, NextStepError } from './next-step.ts';

/** Refuses to read or run anything of a project (an absolute folder) in Restricted Mode. @throws NextStepError */
export function requireTrust(workspace: string | undefined): void {
  if (workspace === undefined || vscode.workspace.isTrusted) return;
  throw new NextStepError(vscode.l10n.t('This workspace is not trusted, so nothing in it is read or run. Trust it, then try again.'), manageTrustStep());
}
