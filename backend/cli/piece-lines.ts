import { counted } from '../common/counted.ts';
import type { ContextPiece } from '../protocol/run-events.ts';
import { oneLine, type Style } from './terminal.ts';

/** Files that are listed individually; the panel and the export have them all. */
const MAX_FILES = 16;
/** Ranges of lines that are listed of a file. */
const MAX_RANGES = 4;
const PATH_WIDTH = 60;
const REASON_WIDTH = 80;

/** One line for each file that is sent, with its lines and why; the first were found first. */
export function pieceLines(pieces: readonly ContextPiece[], style: Style): string[] {
  const files = [...Map.groupBy(pieces, ({ path }) => path)];
  const hidden = files.slice(MAX_FILES);
  return [
    ...files.slice(0, MAX_FILES).map(([path, parts]) => `${shortPath(path)}:${rangesOf(parts)}  ${style('dim', oneLine(reasonOf(parts), REASON_WIDTH))}`),
    ...(hidden.length > 0 ? [style('dim', `and parts of ${counted(hidden.length, 'more file', 'more files')}; "conductor runs export" lists them all`)] : []),
  ];
}

const rangesOf = (parts: readonly ContextPiece[]): string =>
  [...parts.slice(0, MAX_RANGES).map(({ startLine, endLine }) => `${startLine}-${endLine}`), ...(parts.length > MAX_RANGES ? ['…'] : [])].join(',');

/** Of a file in several parts, the reasons of all, each once. */
const reasonOf = (parts: readonly ContextPiece[]): string => [...new Set(parts.flatMap(({ reason }) => reason.split('; ')))].join('; ');

/** A path that is too long without its first folders: the name of the file says most. */
export function shortPath(path: string): string {
  const line = oneLine(path, Infinity);
  return line.length > PATH_WIDTH ? `…${line.slice(-(PATH_WIDTH - 1))}` : line;
}
