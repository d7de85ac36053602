import * as vscode from 'vscode';
import type { RunRequestInput } from '../../backend/protocol/run-request.ts';

/** The test settings of a folder, in the form of a run request. Undefined values are detected from the project's files. */
export type TestSettings = Pick<RunRequestInput, 'testCommand' | 'testRunner' | 'testReports' | 'testImage'>;

/** The value of a setting that is not set. */
const UNNAMED = { testCommand: '', testRunner: 'auto', testReports: '', testImage: '' } as const;
type Key = keyof typeof UNNAMED;

/** @param folder its folder settings apply, if there are any. */
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

/** The settings that choosing a test command changes; the image stays the same. */
const CHOSEN = ['testCommand', 'testRunner', 'testReports'] as const satisfies readonly Key[];

/** Writes to the folder's settings, and only values that differ from the user's other settings. */
export async function writeTestSettings(folder: vscode.WorkspaceFolder, tests: Omit<TestSettings, 'testImage'>): Promise<void> {
  // Without a workspace file, folder settings and workspace settings are the same.
  const target = vscode.workspace.workspaceFile ? vscode.ConfigurationTarget.WorkspaceFolder : vscode.ConfigurationTarget.Workspace;
  const settings = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration('conductor', folder.uri);
  for (const key of CHOSEN) {
    const value = tests[key] === undefined ? UNNAMED[key] : tests[key];
    await settings().update(key, undefined, target);
    if (settings().get(key) !== value) await settings().update(key, value, target);
  }
}
