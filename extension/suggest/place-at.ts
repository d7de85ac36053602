import * as vscode from 'vscode';
import { MAX_TOLD_AFTER, MAX_TOLD_BEFORE } from '../../backend/protocol/suggestion-limits.ts';
import { firstLineSent } from './first-line-sent.ts';
import { wantsLines } from './gap.ts';
import { readSuggestSettings } from './suggest-settings.ts';
import type { Place } from './suggestion-source.ts';

/** Far more lines than are ever sent. */
const LINES_AFTER = 300;

/** The selected entry of the completion list, if it is open, and the range that it replaces. */
export type Selected = vscode.SelectedCompletionInfo | undefined;

/**
 * The cursor's place as sent to the backend. With a selected completion entry, the place after its insertion.
 * @returns undefined if the document is not a file of an open folder
 */
export function placeAt(document: vscode.TextDocument, position: vscode.Position, selected: Selected): Place | undefined {
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  if (document.uri.scheme !== 'file' || folder?.uri.scheme !== 'file') return undefined;
  const { worker, maxUsdPerDay, multiline, project } = readSuggestSettings(document);
  const start = selected?.range.start ?? position;
  const end = selected?.range.end ?? position;
  const textFrom = (line: number): string => document.getText(new vscode.Range(new vscode.Position(line, 0), start));
  const textBefore = textFrom(firstLineSent(start.line, (line) => textFrom(line).length));
  const bottom = document.validatePosition(new vscode.Position(end.line + LINES_AFTER, 0));
  const after = document.getText(new vscode.Range(end, bottom)).slice(0, MAX_TOLD_AFTER);
  const sides = { before: `${textBefore}${selected?.text ?? ''}`.slice(-MAX_TOLD_BEFORE), after };
  return {
    ...sides,
    document: document.uri.toString(),
    multiline: wantsLines(multiline, sides),
    workspace: folder.uri.fsPath,
    path: document.uri.fsPath,
    line: start.line,
    language: document.languageId,
    trusted: vscode.workspace.isTrusted,
    worker,
    maxUsdPerDay,
    project,
  };
}
