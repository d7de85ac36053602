import path from 'node:path';
import { SCORES, wholeFile, wishFor, type Candidate } from './candidates.ts';
import type { ContextRequest, FileRange } from './context.ts';
import { blockAt } from './definitions.ts';
import { around, clamp, span, type LineRange } from './line-range.ts';
import { hashMentions, pathsInProse, placesInTestOutput } from './mentions.ts';
import { renderFilePiece } from './render-piece.ts';
import { linesWith, type Terms } from './terms.ts';
import { unitsOf } from './tokens.ts';
import type { TextFile, Workspace } from './workspace.ts';

/*
 * The places that somebody or something pointed at: the selection, files named by the person, problems the editor shows, lines
 * that a test's output names, the open file.
 */

const MENTION_MARGIN_LINES = 20;
const PROBLEM_MARGIN_LINES = 12;
const OPEN_FILE_MARGIN_LINES = 40;
/** Of a file without a range: where its imports and its purpose stand. */
const HEAD_LINES = 60;
const MAX_PROBLEMS = 20;
const MAX_TEST_PLACES = 12;

export interface Place {
  readonly path: string;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
  /** Lines to show before and after a range. */
  readonly marginLines: number;
  readonly score: number;
  readonly reason: string;
  /** Whether a person wants this file: then its absence is said. Otherwise it may have been no file at all. */
  readonly named: boolean;
}

export interface AskedPlaces {
  readonly places: readonly Place[];
  /** Names that could mean several files. */
  readonly unclear: readonly { path: string; reason: string }[];
}

export function placesIn(request: ContextRequest, workspace: Workspace): AskedPlaces {
  const places: Place[] = [];
  const unclear: { path: string; reason: string }[] = [];
  const { selection, files, question, diagnostics, testOutput = '', openFile } = request;

  if (selection) {
    const reason = selection.startLine === undefined ? 'selection' : `selection, lines ${rangeLabel(selection)}`;
    places.push({ ...selection, marginLines: 0, score: SCORES.selection, reason, named: true });
  }
  for (const file of files) places.push({ ...file, marginLines: 0, score: SCORES.named, reason: 'named by you', named: true });
  for (const mention of hashMentions(question)) {
    const found = filesMeant(mention.path, workspace);
    if (found.length > 1) {
      unclear.push({ path: mention.path, reason: `${found.length} files are called so: write the path, such as #${found[0]}` });
    } else {
      const place = { ...mention, path: found[0] ?? mention.path, reason: 'named in the question' };
      places.push({ ...place, marginLines: 0, score: SCORES.mentioned, named: true });
    }
  }
  for (const mention of pathsInProse(question)) {
    const [found, another] = filesMeant(mention.path, workspace);
    if (found === undefined || another !== undefined) continue;
    const place = { ...mention, path: found, reason: 'named in the question' };
    places.push({ ...place, marginLines: MENTION_MARGIN_LINES, score: SCORES.inProse, named: false });
  }
  for (const { path: file, line, severity } of diagnostics.slice(0, MAX_PROBLEMS)) {
    const place = { path: file, startLine: line, reason: `${severity} in line ${line}` };
    places.push({ ...place, marginLines: PROBLEM_MARGIN_LINES, score: SCORES[severity], named: true });
  }
  let score: number = SCORES.testOutput;
  for (const place of placesInTestOutput(testOutput)) {
    const [found, another] = filesMeant(place.path, workspace);
    if (found === undefined || another !== undefined) continue;
    const reason = `line ${place.startLine} is in the test output`;
    places.push({ ...place, path: found, reason, marginLines: PROBLEM_MARGIN_LINES, score, named: false });
    // What stands first in a stack is nearest to the failure.
    score -= 1;
    if (score <= SCORES.testOutput - MAX_TEST_PLACES) break;
  }
  if (openFile) {
    const place = { ...openFile, reason: 'open file' };
    places.push({ ...place, marginLines: OPEN_FILE_MARGIN_LINES, score: SCORES.openFile, named: true });
  }
  return { places, unclear };
}

/**
 * Files that a name can mean. A path that leads to a file means that file. Otherwise the name is taken as the end of a path: a
 * test may have run in a copy of the workspace, and people leave the folders out.
 */
function filesMeant(name: string, workspace: Workspace): string[] {
  const relative = workspace.relative(name);
  // Without the list of files only the path itself can be tried.
  if (relative !== undefined && (workspace.has(relative) || workspace.files.length === 0)) return [relative];
  const segments = name.replace(/^file:\/\//, '').split(/[\\/]/).filter((segment) => segment !== '' && segment !== '.');
  const absolute = path.isAbsolute(name) || name.startsWith('file:');
  const candidates = workspace.named(segments.at(-1) ?? '');
  for (let length = segments.length; length > 0; length -= 1) {
    // A single name at the end of an absolute path says too little: /usr/lib/node/index.js is not the workspace's index.js.
    if (absolute && length === 1 && segments.length > 1) break;
    if (segments.includes('..')) break;
    const end = segments.slice(-length).join('/');
    const found = candidates.filter((file) => file === end || file.endsWith(`/${end}`));
    if (found.length > 0) return found;
    // A relative path that a person wrote in full means that path or none.
    if (!absolute && length === segments.length) break;
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
  const { startLine, endLine, marginLines, score, reason } = place;
  const lineCount = file.lines.length;
  const one = (focus: LineRange, overrides: Partial<Candidate> = {}): Candidate =>
    ({ file, focus, wish: wishFor(file, focus), anchor: focus.start, score, reasons: [reason], ...overrides });

  if (startLine !== undefined) {
    const named = clamp({ start: startLine, end: endLine ?? startLine }, lineCount);
    const focus = clamp({ start: named.start - marginLines, end: named.end + marginLines }, lineCount);
    return [one(focus, { asked: named, anchor: named.start })];
  }
  const whole = wholeFile(file);
  if (unitsOf(renderFilePiece({ path: file.path, lines: file.lines, ...whole, reason })) <= largeUnits) {
    return [one(whole, { asked: whole })];
  }
  // Too large to be shown at once: its beginning, the lines that speak of what was asked, and the whole when there is room left.
  const parts = linesWith(file, terms).slice(0, 40).map((line) => {
    const focus = clamp(span(around(line, 4, lineCount), blockAt(file.lines, line)), lineCount);
    return one(focus, { wish: focus, anchor: line, score: SCORES.insideNamed + (score - SCORES.insideNamed) / 10 });
  });
  return [one(clamp({ start: 1, end: HEAD_LINES }, lineCount), { wish: whole, asked: whole }), ...parts];
}

function rangeLabel({ startLine, endLine }: FileRange): string {
  return endLine === undefined || endLine === startLine ? `${startLine}` : `${startLine}-${endLine}`;
}
