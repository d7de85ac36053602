import * as vscode from 'vscode';
import { focusOf, type Focus, type Lines } from './focus.ts';
import { relativePath } from './workspace-paths.ts';

/** The workspace folder of a question: that of the active editor, the only one, or the one that the user picks. */
export type FolderChoice =
  | { readonly kind: 'folder'; readonly folder: vscode.WorkspaceFolder }
  | { readonly kind: 'none' }
  | { readonly kind: 'dismissed' };

/** The active text editor. While the panel's tab is active, the text editor that was active before it. */
export class LookedAt {
  readonly #isPanelTabActive: () => boolean;
  #last = vscode.window.activeTextEditor;

  constructor(isPanelTabActive: () => boolean) {
    this.#isPanelTabActive = isPanelTabActive;
  }

  get editor(): vscode.TextEditor | undefined {
    const { activeTextEditor } = vscode.window;
    if (activeTextEditor || !this.#isPanelTabActive()) return activeTextEditor;
    return this.#last?.document.isClosed ? undefined : this.#last;
  }

  watch(): vscode.Disposable {
    return vscode.window.onDidChangeActiveTextEditor((editor) => {
      if (editor) this.#last = editor;
    });
  }
}

/** @param placeHolder the prompt if there are several folders */
export async function chooseFolder(
  placeHolder = vscode.l10n.t('Which folder is the question about?'), editor = vscode.window.activeTextEditor,
): Promise<FolderChoice> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  const [first, ...others] = folders;
  if (!first) return { kind: 'none' };
  if (others.length === 0) return { kind: 'folder', folder: first };
  const active = editor?.document.uri;
  const activeFolder = active && vscode.workspace.getWorkspaceFolder(active);
  if (activeFolder && folders.includes(activeFolder)) return { kind: 'folder', folder: activeFolder };
  const picked = await vscode.window.showWorkspaceFolderPick({ placeHolder, ignoreFocusOut: true });
  return picked ? { kind: 'folder', folder: picked } : { kind: 'dismissed' };
}

/** The user's current focus in the folder. */
export function lookingAt(folder: vscode.WorkspaceFolder, editor = vscode.window.activeTextEditor): Focus {
  const pathOf = (uri: vscode.Uri): string | undefined =>
    uri.scheme === 'file' ? relativePath(folder.uri.fsPath, uri.fsPath) : undefined;
  const editorPath = editor && pathOf(editor.document.uri);
  return focusOf({
    ...(editor && editorPath !== undefined && {
      editor: {
        path: editorPath,
        selection: linesOf(editor.selection),
        visible: editor.visibleRanges[0] && linesOf(editor.visibleRanges[0]),
      },
    }),
    diagnostics: vscode.languages.getDiagnostics().flatMap(([uri, diagnostics]) => {
      const path = pathOf(uri);
      return path === undefined ? [] : diagnostics.flatMap(({ severity, range, message }) => {
        const name = severityName(severity);
        return name ? [{ path, severity: name, line: range.start.line, message }] : [];
      });
    }),
  });
}

function linesOf({ start, end }: vscode.Range): Lines {
  return { startLine: start.line, startCharacter: start.character, endLine: end.line, endCharacter: end.character };
}

function severityName(severity: vscode.DiagnosticSeverity): 'error' | 'warning' | undefined {
  if (severity === vscode.DiagnosticSeverity.Error) return 'error';
  return severity === vscode.DiagnosticSeverity.Warning ? 'warning' : undefined;
}
