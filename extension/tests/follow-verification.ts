import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Verification } from '../../backend/protocol/panel-messages.ts';

/** Makes room for a verdict, so that no earlier one is taken for it. */
export async function clearVerdict(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await rm(file, { force: true });
}

/** Resolves when the task has ended, however it ended. */
export async function runToItsEnd(task: vscode.Task): Promise<void> {
  const ended = new Set<vscode.TaskExecution>();
  const end = Promise.withResolvers<void>();
  let execution: vscode.TaskExecution | undefined;
  const listener = vscode.tasks.onDidEndTask(({ execution: one }) => {
    ended.add(one);
    if (one === execution) end.resolve();
  });
  try {
    execution = await vscode.tasks.executeTask(task);
    // A command that cannot start may have ended already.
    if (!ended.has(execution)) await end.promise;
  } finally {
    listener.dispose();
  }
}

/** The verdict in the file; a sentence where there is none, because the task was stopped, or where it cannot be read. */
export async function readVerdict(file: string): Promise<Pick<Verification, 'verdict' | 'commit' | 'problem'>> {
  try {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) return { problem: vscode.l10n.t('There is no verdict: the verification was stopped before its end, or could not begin. The terminal says more.') };
    const { verifiedChangeSchema } = await import('../../backend/protocol/verified-change.ts');
    const { commit, command, ...verdict } = verifiedChangeSchema.parse(JSON.parse(text));
    return { verdict: { ...verdict, command: command ?? '' }, ...(commit !== null && { commit }) };
  } catch {
    return { problem: vscode.l10n.t('The verdict could not be read. The terminal shows it.') };
  } finally {
    await rm(file, { force: true });
  }
}
