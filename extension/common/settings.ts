import * as vscode from 'vscode';

/** The extension's settings. Read on each use, so that a change takes effect on the next use. */
export interface Settings {
  /** Path of another Node for the backend; undefined: the one that runs VS Code's extensions. */
  readonly nodePath: string | undefined;
  /** Folder of `workers.json` and the journal; undefined: the backend's default. */
  readonly home: string | undefined;
  readonly rounds: number;
  readonly confirmContext: boolean;
}

/** @param folder its folder settings apply, if there are any. */
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
