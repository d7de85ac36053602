import path from 'node:path';
import { SCORES, wholeFile, wishFor, type Candidate, type Source } from './candidates.ts';
import type { ContextRequest, FileRange } from './context.ts';
import { blockAt } from './block-at.ts';
import { around, clamp, lineLabel, span, type LineRange } from './line-range.ts';
import { hashMentions, linkedPlaces, pathsInProse, placesInTestOutput, withoutHashMentions, type MentionedPlace } from './mentions.ts';
import { renderFilePiece } from './render-piece.ts';
import { linesWith, type Terms } from './terms.ts';
import { unitsOf } from './tokens.ts';
import type { TextFile, Workspace } from './workspace.ts';

/*
 * The places that the request points at: the selection, files named by the user, problems shown by the editor, lines named in test
 * output, and the open file.
 */

/** How many lines around a range are shown. Selected or named lines are taken exactly. */
const MARGIN_LINES: Readonly<Record<Place['source'], number>> = {
  selection: 0, named: 0, mentioned: 0, learned: 2, inProse: 20, error: 12, warning: 12, testOutput: 12, openFile: 40,
};
/** For a file without a range: its first lines, with imports and a description. */
const HEAD_LINES = 60;
const MAX_TEST_PLACES = 12;

export interface Place {
  readonly path: string;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  readonly source: Exclude<Source, 'insideNamed' | 'found'>;
  readonly score: number;
  readonly reason: string;
  /** Whether it is certainly meant as a file. If so, a missing file is reported; a path in prose may not be a file. */
  readonly certain: boolean;
}

export interface AskedPlaces {
  /** The places of one source keep the order of the request. */
  readonly places: readonly Place[];
  /** Names that match several files. */
  readonly unclear: readonly { path: string; reason: string }[];
}

export function placesIn(request: ContextRequest, workspace: Workspace): AskedPlaces {
  const places: Place[] = [];
  const unclear: { path: string; reason: string }[] = [];
  const add = (source: Place['source'], reason: string, range: FileRange, certain: boolean): void => {
    const { path: file, startLine, endLine } = range;
    places.push({ path: file, startLine, endLine, source, score: SCORES[source], reason, certain });
  };

  const { selection, files, question, diagnostics, testOutput = '', learned = [], clues = '', openFile } = request;
  if (selection) add('selection', `selection${rangeLabel(selection)}`, selection, true);
  for (const file of files) add('named', 'named by you', file, true);
  for (const mention of hashMentions(question)) {
    const [found, ...more] = filesMeant(mention.path, workspace);
    if (more.length === 0) {
      add('mentioned', 'named in the question', { ...mention, path: found ?? mention.path }, true);
    } else {
      unclear.push({ path: mention.path, reason: `${more.length + 1} files are called so: write the path, such as #${found}` });
    }
  }
  for (const mention of pathsInProse(question)) {
    const file = onlyFileMeant(mention.path, workspace);
    if (file !== undefined) add('inProse', 'named in the question', { ...mention, path: file }, false);
  }
  const existing = (mentions: readonly MentionedPlace[]): (MentionedPlace & { startLine: number })[] =>
    mentions.flatMap(({ path: name, startLine = 1, endLine }) => {
      const file = linkedFile(name, workspace);
      return file === undefined ? [] : [{ path: file, startLine, endLine }];
    });
  // A trace, a compiler's message or a link that was pasted into the question.
  for (const place of existing(linkedPlaces(question))) add('inProse', 'linked in the question', place, false);
  for (const place of existing(placesInTestOutput(withoutHashMentions(question))).slice(0, MAX_TEST_PLACES)) {
    add('inProse', `line ${place.startLine} is named in the question`, place, false);
  }
  for (const { path: file, line, severity } of diagnostics) {
    add(severity, `${severity} in line ${line}`, { path: file, startLine: line }, true);
  }
  for (const { reason, ...place } of learned) add('learned', reason, place, false);
  for (const place of existing([testOutput, clues].flatMap(placesInTestOutput)).slice(0, MAX_TEST_PLACES)) {
    add('testOutput', `line ${place.startLine} is in the test output`, place, false);
  }
  if (openFile) add('openFile', 'open file', openFile, true);
  return { places, unclear };
}

/** The file that a name refers to, if exactly one file in the workspace matches. */
export function onlyFileMeant(name: string, workspace: Workspace): string | undefined {
  const [found, ...more] = filesMeant(name, workspace);
  return more.length === 0 ? found : undefined;
}

/** As `onlyFileMeant`; an absolute path or a link may also mean a file at the root of the workspace, with its folders left out. */
function linkedFile(name: string, workspace: Workspace): string | undefined {
  const found = onlyFileMeant(name, workspace);
  if (found !== undefined || !/^\/[^/]+\/[^/]+$/.test(name)) return found;
  const base = path.posix.basename(name);
  return workspace.has(base) ? base : undefined;
}

/**
 * The files that a name can refer to. An existing path refers to that file. Otherwise the name is matched with the end of paths, because
 * users omit folders. For an absolute path outside the workspace the longest matching end is used: a test may have run in a copy of the
 * workspace.
 */
function filesMeant(name: string, workspace: Workspace): readonly string[] {
  const relative = workspace.relative(name);
  // Without a list of files, only the path itself can be tried.
  if (relative !== undefined && (workspace.has(relative) || workspace.files.length === 0)) return [relative];
  const isAbsolute = path.isAbsolute(name) || name.startsWith('file:');
  const segments = name.replace(/^file:\/\//, '').split(/[\\/]/).filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) return [];
  // A file name alone is not enough: /usr/lib/node/index.js is not the workspace's index.js.
  const shortest = isAbsolute ? 2 : segments.length;
  for (let length = segments.length; length >= Math.max(1, shortest); length -= 1) {
    const end = segments.slice(-length).join('/');
    const found = workspace.named(segments.at(-1) ?? '').filter((file) => file === end || file.endsWith(`/${end}`));
    if (found.length > 0) return found;
  }
  return [];
}

export interface CandidateOptions {
  readonly terms: Terms;
  /** A file that costs more than this (units of `tokens.ts`) is shown in parts. */
  readonly largeUnits: number;
}

/** The candidates for a place in a file that may be sent. */
export function candidatesFor(place: Place, file: TextFile, { terms, largeUnits }: CandidateOptions): Candidate[] {
  const { startLine, endLine, source, score, reason } = place;
  const lineCount = file.lines.length;
  const one = (focus: LineRange, overrides: Partial<Candidate> = {}): Candidate =>
    ({ file, focus, wish: wishFor(file, focus), anchor: focus.start, score, reasons: [reason], ...overrides });

  if (startLine !== undefined) {
    const named = clamp({ start: startLine, end: endLine ?? startLine }, lineCount);
    const margin = MARGIN_LINES[source];
    const focus = clamp({ start: named.start - margin, end: named.end + margin }, lineCount);
    return [one(focus, { asked: named, anchor: named.start })];
  }
  const whole = wholeFile(file);
  if (unitsOf(renderFilePiece({ path: file.path, lines: file.lines, ...whole, reason })) <= largeUnits) {
    return [one(whole, { asked: whole })];
  }
  // The file is too large to be shown whole: show its beginning and the lines with search terms, and the whole file if there is room left.
  const parts = linesWith(file, terms).slice(0, 40).map((line) => {
    const focus = clamp(span(around(line, 4, lineCount), blockAt(file.lines, line)), lineCount);
    return one(focus, { wish: focus, anchor: line, score: SCORES.insideNamed + (score - SCORES.insideNamed) / 10 });
  });
  return [one(clamp({ start: 1, end: HEAD_LINES }, lineCount), { wish: whole, asked: whole }), ...parts];
}

function rangeLabel({ startLine, endLine = startLine }: FileRange): string {
  if (startLine === undefined || endLine === undefined) return '';
  return `, line${endLine > startLine ? 's' : ''} ${lineLabel({ start: startLine, end: Math.max(startLine, endLine) })}`;
}
