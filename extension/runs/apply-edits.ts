import * as vscode from 'vscode';
import type { FileEdit } from '../../backend/protocol/methods.ts';
import { lineEdits, normalized, withoutStep, type LineEdit } from './line-edits.ts';
import { insideFolder } from '../common/workspace-paths.ts';

/** An edit whose file is known to be in the folder. */
export interface PlacedEdit extends FileEdit {
  readonly uri: vscode.Uri;
}

/** A file that prevents the edits, with the reason as text for users. */
export interface Obstacle {
  readonly path: string;
  readonly reason: string;
}

/** Some files are not as the edits expect. No file was changed. */
export class EditConflictError extends Error {
  override readonly name = 'EditConflictError';
  readonly obstacles: readonly Obstacle[];

  constructor(message: string, obstacles: readonly Obstacle[]) {
    super([message, ...obstacles.map(({ path, reason }) => `${path}: ${reason}`)].join(' '));
    this.obstacles = obstacles;
  }
}

/** Splits edits into those inside the folder and rejected ones: a model wrote the paths. */
export async function placeEdits(
  folder: vscode.Uri, edits: readonly FileEdit[],
): Promise<{ placed: PlacedEdit[]; refused: Obstacle[] }> {
  const placed: PlacedEdit[] = [];
  const refused: Obstacle[] = [];
  for (const edit of edits) {
    const file = await insideFolder(folder.fsPath, edit.path);
    if (file === undefined) refused.push({ path: edit.path, reason: vscode.l10n.t('It is not a file in the folder.') });
    else placed.push({ ...edit, uri: vscode.Uri.file(file) });
  }
  return { placed, refused };
}

/**
 * Applies all edits in one step, and saves. Unsaved changes in editors count as the files' content.
 * @throws EditConflictError if a file differs from the base of the edits; no file is changed then
 */
export async function applyEdits(edits: readonly PlacedEdit[]): Promise<void> {
  const workspaceEdit = new vscode.WorkspaceEdit();
  const obstacles: Obstacle[] = [];
  for (const { uri, path, before, after } of edits) {
    const current = await currentText(uri);
    if (current !== (before === null ? undefined : normalized(before))) {
      obstacles.push({ path, reason: reasonOf(current, before) });
      continue;
    }
    addChange(workspaceEdit, uri, current, after);
  }
  if (obstacles.length > 0) {
    const message = vscode.l10n.t('Nothing was applied, because files have changed since the answer was shown.');
    throw new EditConflictError(message, obstacles);
  }
  await commit(workspaceEdit, edits);
}

/**
 * Reverts only what `applyEdits` changed; other changes in the same files stay.
 * @throws EditConflictError if edited lines, or lines next to them, have changed since; no file is changed then
 */
export async function undoEdits(edits: readonly PlacedEdit[]): Promise<void> {
  const workspaceEdit = new vscode.WorkspaceEdit();
  const obstacles: Obstacle[] = [];
  for (const { uri, path, before, after } of edits) {
    const current = await currentText(uri);
    if (before !== null && after !== null) {
      const restored = current === undefined
        ? undefined
        : withoutStep({ before: normalized(before), after: normalized(after), current });
      if (restored === undefined) obstacles.push({ path, reason: vscode.l10n.t('The applied lines have been edited since.') });
      else addChange(workspaceEdit, uri, current, restored);
    } else if (current === (after === null ? undefined : normalized(after))) {
      addChange(workspaceEdit, uri, current, before);
    } else {
      obstacles.push({ path, reason: vscode.l10n.t('The file has been edited since.') });
    }
  }
  if (obstacles.length > 0) {
    const message = vscode.l10n.t('Nothing was undone, because the answer has been edited since it was applied.');
    throw new EditConflictError(message, obstacles);
  }
  await commit(workspaceEdit, edits);
}

function reasonOf(current: string | undefined, before: string | null): string {
  if (before === null) return vscode.l10n.t('The file exists by now.');
  return current === undefined ? vscode.l10n.t('The file is gone.') : vscode.l10n.t('The file’s text has changed since.');
}

/** Maximum time for VS Code to notice a change on disk; usually it takes less than a second. */
const NOTICE_LIMIT_MS = 5_000;

/**
 * The normalized text of the file: unsaved text if there is any, otherwise the content on disk. VS Code caches opened files and notices
 * changes with a delay, so this waits for it.
 * @returns undefined if the file does not exist
 */
async function currentText(uri: vscode.Uri): Promise<string | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await vscode.workspace.fs.readFile(uri);
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') return undefined;
    throw error;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const onDisk = normalized(await vscode.workspace.decode(bytes, { uri }));
  if (!(await isUpToDate(document, onDisk))) {
    throw new Error(vscode.l10n.t('{0} is newer on disk than in VS Code: close it and try again.', uri.fsPath));
  }
  return normalized(document.getText());
}

/** Waits until the document equals the file on disk or has unsaved changes, or until the time limit. */
async function isUpToDate(document: vscode.TextDocument, onDisk: string): Promise<boolean> {
  const holds = (): boolean => document.isDirty || normalized(document.getText()) === onDisk;
  if (holds()) return true;
  return new Promise((resolve) => {
    const end = (upToDate: boolean): void => {
      clearTimeout(timer);
      subscription.dispose();
      resolve(upToDate);
    };
    const timer = setTimeout(() => end(false), NOTICE_LIMIT_MS);
    const subscription = vscode.workspace.onDidChangeTextDocument(() => {
      if (holds()) end(true);
    });
  });
}

/** A new file gets exactly the bytes of `to`. An existing file keeps its line ends. */
function addChange(workspaceEdit: vscode.WorkspaceEdit, uri: vscode.Uri, from: string | undefined, to: string | null): void {
  if (to === null) {
    if (from !== undefined) workspaceEdit.deleteFile(uri);
  } else if (from === undefined) {
    workspaceEdit.createFile(uri, { contents: new TextEncoder().encode(to) });
  } else {
    workspaceEdit.set(uri, lineEdits(from, normalized(to)).map(textEdit));
  }
}

function textEdit({ start, end, text }: LineEdit): vscode.TextEdit {
  return vscode.TextEdit.replace(new vscode.Range(start, 0, end, 0), text);
}

async function commit(workspaceEdit: vscode.WorkspaceEdit, edits: readonly PlacedEdit[]): Promise<void> {
  if (!(await vscode.workspace.applyEdit(workspaceEdit))) {
    throw new EditConflictError(vscode.l10n.t('VS Code refused the edits; nothing was changed. Try again.'), []);
  }
  // A document's dirty state reaches this process a little after the change, so all of them are saved.
  const kept = edits.filter(({ before, after }) => before !== null && after !== null);
  await Promise.all(kept.map(async ({ uri }) => (await vscode.workspace.openTextDocument(uri)).save()));
}
