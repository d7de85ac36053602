import * as vscode from 'vscode';
import { MAX_TOLD_AFTER, MAX_TOLD_BEFORE } from '../../backend/protocol/suggestion-limits.ts';
import { wantsLines } from './gap.ts';
import { readSuggestSettings } from './suggest-settings.ts';
import type { Place } from './suggestion-source.ts';

/** Far more lines than are ever told. */
const LINES_BEFORE = 1_000;
const LINES_AFTER = 300;

/** What the list of completions would insert, if it is open, and which text it would take the place of. */
export type Selected = vscode.SelectedCompletionInfo | undefined;

/**
 * The place of the cursor as the backend is told of it; with an entry of the list of completions selected, the place after that entry.
 * @returns undefined for a document that is no file of an open folder
 */
export function placeAt(document: vscode.TextDocument, position: vscode.Position, selected: Selected): Place | undefined {
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  if (document.uri.scheme !== 'file' || folder?.uri.scheme !== 'file') return undefined;
  const { worker, maxUsdPerDay, multiline } = readSuggestSettings(document);
  const start = selected?.range.start ?? position;
  const end = selected?.range.end ?? position;
  const top = new vscode.Position(Math.max(0, start.line - LINES_BEFORE), 0);
  const bottom = document.validatePosition(new vscode.Position(end.line + LINES_AFTER, 0));
  const before = document.getText(new vscode.Range(top, start)).slice(-MAX_TOLD_BEFORE) + (selected?.text ?? '');
  const after = document.getText(new vscode.Range(end, bottom)).slice(0, MAX_TOLD_AFTER);
  const sides = { before: before.slice(-MAX_TOLD_BEFORE), after };
  return {
    ...sides,
    document: document.uri.toString(),
    multiline: wantsLines(multiline, sides),
    workspace: folder.uri.fsPath,
    path: document.uri.fsPath,
    language: document.languageId,
    trusted: vscode.workspace.isTrusted,
    worker,
    maxUsdPerDay,
  };
}
