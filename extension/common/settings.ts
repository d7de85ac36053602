import * as vscode from 'vscode';

/** The extension's settings, read when they are needed, so that a change counts from the next use on. */
export interface Settings {
  /** Another Node for the backend; undefined: the one VS Code runs extensions with. */
  readonly nodePath: string | undefined;
  /** Folder of `workers.json` and the journal; undefined: the backend's own choice. */
  readonly home: string | undefined;
  readonly rounds: number;
  readonly confirmContext: boolean;
}

/** @param folder whose own settings count, where it has any. */
export function readSettings(folder?: vscode.Uri): Settings {
  const settings = vscode.workspace.getConfiguration('conductor', folder);
  const text = (key: string): string | undefined => settings.get<string | null>(key)?.trim() || undefined;
  return {
    nodePath: text('nodePath'),
    home: text('home'),
    rounds: settings.get('rounds', 2),
    confirmContext: settings.get('confirmContext', true),
  };
}
