import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import type { Verification } from '../../backend/protocol/panel-messages.ts';
import { commandLine } from '../common/command-line.ts';
import { manageTrustStep, NextStepError, openFolderStep } from '../common/next-step.ts';
import { clearVerdict, readVerdict } from './follow-verification.ts';
import { verifyArguments } from './verify-changes.ts';

export interface VerifyOptions {
  readonly extensionFolder: vscode.Uri;
  /** A folder of this window alone, which need not exist. */
  readonly storage: vscode.Uri;
  readonly folder: vscode.WorkspaceFolder | undefined;
  /** Stops the tests. */
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
}

/**
 * Verifies the uncommitted changes of a folder as `Conductor: Verify My Changes` does, without a terminal. Without a sandbox the tests do not
 * run, because nobody is asked.
 * @returns the verdict; a sentence where there is none
 * @throws NextStepError if there is no folder or it is not trusted
 */
export async function verifyInBackground(
  { extensionFolder, storage, folder, signal, onProgress }: VerifyOptions,
): Promise<Pick<Verification, 'verdict' | 'commit' | 'problem'>> {
  if (!folder) throw new NextStepError(vscode.l10n.t('No folder is open: open the one that was changed.'), openFolderStep());
  if (!vscode.workspace.isTrusted) {
    throw new NextStepError(vscode.l10n.t('This workspace is not trusted. Trust it to run its tests.'), manageTrustStep());
  }
  const file = vscode.Uri.joinPath(storage, `verdict-${randomUUID()}.json`).fsPath;
  await clearVerdict(file);
  const { command, args, env } = commandLine(extensionFolder, ...verifyArguments(folder, file));
  const child = spawn(command, args, { cwd: folder.uri.fsPath, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = Promise.withResolvers<void>();
  child.once('error', ended.reject).once('close', () => ended.resolve());
  let last = '';
  createInterface(child.stderr).on('line', (line) => {
    last = line;
    onProgress(line);
  });
  // As Ctrl+C at a terminal: the tests end, and with them their sandbox.
  const stop = (): void => void child.kill('SIGINT');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await ended.promise;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  const result = await readVerdict(file);
  if (result.verdict || last === '' || signal.aborted) return result;
  return { problem: last };
}
