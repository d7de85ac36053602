import type { Diagnostic, FileRange } from '../../backend/protocol/run-request.ts';

/*
 * What the person is looking at, as a question is sent with it. Only places go over the socket; the backend reads the files,
 * leaves out what is secret or ignored, and cuts the rest to the token budget.
 */

/** Positions as VS Code has them: lines and characters from 0. */
export interface Lines {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
}

export interface Looking {
  readonly editor?: {
    /** Relative to the workspace folder, with forward slashes. */
    readonly path: string;
    readonly selection: Lines;
    readonly visible?: Lines | undefined;
  } | undefined;
  readonly diagnostics: readonly { path: string; severity: 'error' | 'warning'; line: number; message: string }[];
}

/** Input of the contract's `focusSchema`. */
export interface Focus {
  readonly selection?: FileRange;
  readonly openFile?: FileRange;
  readonly diagnostics: Diagnostic[];
}

/** More would crowd the question out of a small model's window. */
const MAX_DIAGNOSTICS = 50;
const MAX_DIAGNOSTIC_CHARACTERS = 1_000;

export function focusOf({ editor, diagnostics }: Looking): Focus {
  const selection = editor && selectedLines(editor.selection);
  return {
    ...(editor && selection && { selection: { path: editor.path, ...selection } }),
    ...(editor && { openFile: { path: editor.path, ...(editor.visible && wholeLines(editor.visible)) } }),
    diagnostics: mostUseful(diagnostics, editor?.path).slice(0, MAX_DIAGNOSTICS).map(({ path, severity, line, message }) => ({
      path, severity, line: line + 1, message: message.slice(0, MAX_DIAGNOSTIC_CHARACTERS),
    })),
  };
}

/** @returns undefined for a mere cursor. */
function selectedLines(selection: Lines): { startLine: number; endLine: number } | undefined {
  const { startLine, startCharacter, endLine, endCharacter } = selection;
  if (startLine === endLine && startCharacter === endCharacter) return undefined;
  return wholeLines(selection);
}

/** Lines from 1, both ends included. A range that ends before a line's first character does not touch that line. */
function wholeLines({ startLine, endLine, endCharacter }: Lines): { startLine: number; endLine: number } {
  const last = endCharacter === 0 && endLine > startLine ? endLine - 1 : endLine;
  return { startLine: startLine + 1, endLine: last + 1 };
}

/** Errors before warnings, the open file before others; otherwise in the order given. */
function mostUseful(diagnostics: Looking['diagnostics'], openPath: string | undefined): Looking['diagnostics'] {
  const rank = ({ severity, path }: Looking['diagnostics'][number]): number =>
    (severity === 'error' ? 0 : 2) + (path === openPath ? 0 : 1);
  return diagnostics.toSorted((a, b) => rank(a) - rank(b));
}
