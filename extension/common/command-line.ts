import * as vscode from 'vscode';
import { readSettings } from './settings.ts';

/** How the bundled command line is started. */
export interface CommandLine {
  readonly command: string;
  readonly args: string[];
  /** Added to the environment of this process. */
  readonly env: Record<string, string>;
}

/** `conductor ARGS`, run by the user's Node, or by the one that runs VS Code's extensions. */
export function commandLine(extensionFolder: vscode.Uri, ...args: readonly string[]): CommandLine {
  const { nodePath, home } = readSettings();
  return {
    command: nodePath ?? process.execPath,
    args: [vscode.Uri.joinPath(extensionFolder, 'dist', 'cli.mjs').fsPath, ...args],
    env: {
      // Makes VS Code's Electron behave as Node.
      ...(nodePath === undefined && 'electron' in process.versions && { ELECTRON_RUN_AS_NODE: '1' }),
      ...(home !== undefined && { CONDUCTOR_HOME: home }),
    },
  };
}
