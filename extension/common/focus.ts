import type { Diagnostic, FileRange } from '../../backend/protocol/run-request.ts';

/*
 * The part of the workspace that the user is looking at, sent with a question. Only locations go over the socket. The backend reads the
 * files, leaves out secret and ignored ones, and truncates the rest to the token budget.
 */

/** Positions as in VS Code: lines and characters from 0. */
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

/** Input of the protocol's `focusSchema`. */
export interface Focus {
  readonly selection?: FileRange;
  readonly openFile?: FileRange;
  readonly diagnostics: Diagnostic[];
}

/** More would leave too little room for the question in a small model's context window. */
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

/** @returns undefined if only the cursor is set. */
function selectedLines(selection: Lines): { startLine: number; endLine: number } | undefined {
  const { startLine, startCharacter, endLine, endCharacter } = selection;
  if (startLine === endLine && startCharacter === endCharacter) return undefined;
  return wholeLines(selection);
}

/** Lines from 1, inclusive. A range that ends before a line's first character excludes that line. */
function wholeLines({ startLine, endLine, endCharacter }: Lines): { startLine: number; endLine: number } {
  const last = endCharacter === 0 && endLine > startLine ? endLine - 1 : endLine;
  return { startLine: startLine + 1, endLine: last + 1 };
}

/** Sorts errors before warnings and the open file before others; otherwise keeps the given order. */
function mostUseful(diagnostics: Looking['diagnostics'], openPath: string | undefined): Looking['diagnostics'] {
  const rank = ({ severity, path }: Looking['diagnostics'][number]): number =>
    (severity === 'error' ? 0 : 2) + (path === openPath ? 0 : 1);
  return diagnostics.toSorted((a, b) => rank(a) - rank(b));
}
