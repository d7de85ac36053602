import nodePath from 'node:path';
import * as vscode from 'vscode';
import type { PersonPython } from '../../backend/protocol/person-python.ts';

/** What the Python extension tells others, as far as it is used here (microsoft/vscode-python, "Python Environment APIs"). */
interface PythonExtension {
  readonly environments?: { getActiveEnvironmentPath?(resource: vscode.Uri): { readonly path: string } | undefined };
}

/**
 * The Python environment that a person has chosen for an open folder, with the Python extension or in its settings; null if there is none. In
 * Restricted Mode there is none: the folder's own settings could name any.
 */
export function personPython(workspace: string): PersonPython | null {
  if (!vscode.workspace.isTrusted) return null;
  const open = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === workspace);
  const python = open && chosenPython(open.uri);
  const folder = python === undefined ? undefined : environmentFolder(python.replaceAll('${workspaceFolder}', () => workspace));
  return folder === undefined ? null : { folder, isChosen: true };
}

function chosenPython(folder: vscode.Uri): string | undefined {
  const extension = vscode.extensions.getExtension<PythonExtension>('ms-python.python');
  // It starts by itself where there is Python. It is not started for this.
  const active = extension?.isActive ? extension.exports?.environments?.getActiveEnvironmentPath?.(folder)?.path : undefined;
  return active ?? vscode.workspace.getConfiguration('python', folder).get<string>('defaultInterpreterPath');
}

/** The folder of an environment, from that folder or from its Python. Links stay: a Python of an environment is a link to another one. Undefined for a name that is no absolute path. */
export function environmentFolder(python: string, path: Pick<typeof nodePath, 'basename' | 'dirname' | 'isAbsolute'> = nodePath): string | undefined {
  if (!path.isAbsolute(python)) return undefined;
  if (!/^python[\d.]*(?:\.exe)?$/i.test(path.basename(python))) return python;
  const folder = path.dirname(python);
  return /^(?:bin|scripts)$/i.test(path.basename(folder)) ? path.dirname(folder) : folder;
}
