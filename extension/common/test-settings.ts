import * as vscode from 'vscode';
import type { RunRequestInput } from '../../backend/protocol/run-request.ts';

/** How the tests of a folder are run, as a run request has it; what is undefined is found from the project's files. */
export type TestSettings = Pick<RunRequestInput, 'testCommand' | 'testRunner' | 'testReports' | 'testImage'>;

/** What the settings hold where somebody named nothing. */
const UNNAMED = { testCommand: '', testRunner: 'auto', testReports: '', testImage: '' } as const;
type Key = keyof typeof UNNAMED;

/** @param folder whose own settings count, where it has any. */
export function readTestSettings(folder?: vscode.Uri): TestSettings {
  const settings = vscode.workspace.getConfiguration('conductor', folder);
  const named = (key: Key): string | undefined => {
    const text = settings.get<string | null>(key)?.trim();
    return text === UNNAMED[key] ? undefined : text || undefined;
  };
  return {
    testCommand: settings.get<string | null>('testCommand') === null ? null : named('testCommand'),
    testRunner: named('testRunner'),
    testReports: named('testReports'),
    testImage: named('testImage'),
  };
}

/** What a choice of command decides; the image stays as it is. */
const CHOSEN = ['testCommand', 'testRunner', 'testReports'] as const satisfies readonly Key[];

/** Writes into the folder's own settings, and there only what the person's settings elsewhere do not say already. */
export async function writeTestSettings(folder: vscode.WorkspaceFolder, tests: Omit<TestSettings, 'testImage'>): Promise<void> {
  // Without a workspace file the folder's settings are the workspace's.
  const target = vscode.workspace.workspaceFile ? vscode.ConfigurationTarget.WorkspaceFolder : vscode.ConfigurationTarget.Workspace;
  const settings = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration('conductor', folder.uri);
  for (const key of CHOSEN) {
    const value = tests[key] === undefined ? UNNAMED[key] : tests[key];
    await settings().update(key, undefined, target);
    if (settings().get(key) !== value) await settings().update(key, value, target);
  }
}
