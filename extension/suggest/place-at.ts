import * as vscode from 'vscode';
import { MAX_TOLD_AFTER, MAX_TOLD_BEFORE } from '../../backend/protocol/suggestion-limits.ts';
import { firstLineTold } from './first-line-told.ts';
import { wantsLines } from './gap.ts';
import { readSuggestSettings } from './suggest-settings.ts';
import type { Place } from './suggestion-source.ts';

/** Far more lines than are ever sent. */
const LINES_AFTER = 300;

/** What the list of completions would insert, if it is open, and which text it would take the place of. */
export type Selected = vscode.SelectedCompletionInfo | undefined;

/**
 * The place of the cursor as the backend is told of it; with an entry of the list of completions selected, the place after it.
 * @returns undefined for a document that is no file of an open folder
 */
export function placeAt(document: vscode.TextDocument, position: vscode.Position, selected: Selected): Place | undefined {
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  if (document.uri.scheme !== 'file' || folder?.uri.scheme !== 'file') return undefined;
  const { worker, maxUsdPerDay, multiline } = readSuggestSettings(document);
  const start = selected?.range.start ?? position;
  const end = selected?.range.end ?? position;
  const textFrom = (line: number): string => document.getText(new vscode.Range(new vscode.Position(line, 0), start));
  const told = textFrom(firstLineTold(start.line, (line) => textFrom(line).length));
  const bottom = document.validatePosition(new vscode.Position(end.line + LINES_AFTER, 0));
  const after = document.getText(new vscode.Range(end, bottom)).slice(0, MAX_TOLD_AFTER);
  const sides = { before: `${told}${selected?.text ?? ''}`.slice(-MAX_TOLD_BEFORE), after };
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
