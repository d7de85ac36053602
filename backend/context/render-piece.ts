import { backticks } from '../common/backticks.ts';
import { extensionOf } from './file-names.ts';

/*
 * The format of a piece: a header line, and the content in a code fence longer than any in the content.
 *
 *     ### src/a.ts, lines 10-20 of 300 (selection)
 *     ```ts
 *     …
 *     ```
 */

export interface RenderedFile {
  readonly path: string;
  readonly lines: readonly string[];
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}

export function renderFilePiece({ path, lines, start, end, reason }: RenderedFile): string {
  const shown = lines.slice(start - 1, end);
  const extent = shown.length === lines.length
    ? `whole file, ${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`
    : `lines ${start}-${end} of ${lines.length}`;
  const language = extensionOf(path);
  return renderPiece(`${displayPath(path)}, ${extent} (${reason})`, shown, /^[a-z0-9]{1,12}$/.test(language) ? language : '');
}

export function renderPiece(title: string, lines: readonly string[], language = ''): string {
  const content = lines.join('\n');
  const fence = backticks(content, 3);
  return `### ${title}\n${fence}${language}\n${content}${content === '' ? '' : '\n'}${fence}`;
}

/** The path itself, or a JSON string if the path contains characters that could break the format. */
export function displayPath(path: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}"`]/u.test(path) ? JSON.stringify(path) : path;
}
