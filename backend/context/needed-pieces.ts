import { onlyFileMeant } from './asked-places.ts';
import { blockAt, indentOf } from './block-at.ts';
import { wholeFile, type Candidate } from './candidates.ts';
import type { GatheredContext } from './context.ts';
import { definitionMatcher, escapeForRegExp } from './definitions.ts';
import { isTestPath } from './file-names.ts';
import { findMatches } from './find-matches.ts';
import { LeftOut } from './left-out.ts';
import { around, clamp, span, type LineRange } from './line-range.ts';
import type { Ripgrep } from './ripgrep.ts';
import { SEPARATOR, Shelf } from './shelf.ts';
import { tokensOf, unitsIn } from './tokens.ts';
import { Workspace, type TextFile } from './workspace.ts';

/** What somebody asks to see: names in a file or anywhere, lines of a file, or a whole file. Untrusted. */
export interface Need {
  /** At most one path, and names such as `match` or `Route.match`. Which is which depends on the files that there are. */
  readonly words: readonly string[];
  readonly startLine?: number;
  readonly endLine?: number;
}

export interface NeedsRequest {
  /** Absolute. */
  readonly workspace: string;
  readonly needs: readonly Need[];
  readonly tokenBudget: number;
  readonly signal: AbortSignal;
}

/** A name can be defined in several files; of more, the asker has to name one. */
const MAX_DEFINITIONS = 4;
/** Where a name is only used: this many places, with lines around them. */
const MAX_USES = 2;
const USE_MARGIN = 8;

/** The pieces that are asked for, by the same rules as any context. What is not given is in `leftOut` with the reason. */
export async function neededPieces({ workspace: folder, needs, tokenBudget, signal }: NeedsRequest, ripgrep: Ripgrep): Promise<GatheredContext> {
  const leftOut = new LeftOut();
  const workspace = await Workspace.open(folder, ripgrep, signal);
  const shelf = new Shelf(unitsIn(tokenBudget));
  if (!workspace) leftOut.add(folder, 'no such folder');
  else {
    const given = await Promise.all(needs.map((need) => new Giver(workspace, ripgrep, leftOut, signal).candidatesFor(need)));
    for (const [index, candidate] of given.flat().entries()) {
      const isLast = index === given.flat().length - 1;
      const limit = isLast ? shelf.left : shelf.left * SHARE_WHILE_OTHERS_WAIT;
      if (!shelf.add(candidate, candidate.focus, limit)) shelf.addPart(candidate, limit);
    }
    for (const { file, focus } of given.flat()) {
      if (shelf.shows(file, focus)) continue;
      const shown = shelf.labelOf(file);
      leftOut.add(file.path, `${shown === '' ? 'over' : `all but lines ${shown} is over`} the token budget; it has ${file.lines.length} lines`);
    }
  }
  const shown = shelf.pieces();
  for (const { piece, file } of shown) leftOut.addSecrets(piece, file.secrets);
  const text = shown.map((one) => one.text).join(SEPARATOR);
  return { pieces: shown.map(({ piece }) => piece), leftOut: leftOut.entries, tokens: tokensOf(text), text };
}

const SHARE_WHILE_OTHERS_WAIT = 0.6;

class Giver {
  readonly #workspace: Workspace;
  readonly #ripgrep: Ripgrep;
  readonly #leftOut: LeftOut;
  readonly #signal: AbortSignal;

  constructor(workspace: Workspace, ripgrep: Ripgrep, leftOut: LeftOut, signal: AbortSignal) {
    this.#workspace = workspace;
    this.#ripgrep = ripgrep;
    this.#leftOut = leftOut;
    this.#signal = signal;
  }

  async candidatesFor({ words, startLine, endLine }: Need): Promise<Candidate[]> {
    const path = words.find((word) => /[/\\]/.test(word) || onlyFileMeant(word, this.#workspace) !== undefined);
    const names = words.filter((word) => word !== path);
    if (path === undefined) return (await Promise.all(names.map((name) => this.#anywhere(name)))).flat();
    const answer = await this.#workspace.read(onlyFileMeant(path, this.#workspace) ?? path);
    if ('refusal' in answer) {
      this.#leftOut.add(answer.refusal.path, answer.refusal.reason);
      return [];
    }
    const { file } = answer;
    if (names.length > 0) return names.flatMap((name) => this.#inFile(name, file));
    const whole = wholeFile(file);
    const focus = startLine === undefined ? whole : clamp({ start: startLine, end: endLine ?? startLine }, file.lines.length);
    return [candidate(file, focus, 'you asked for it')];
  }

  #inFile(name: string, file: TextFile): Candidate[] {
    const places = placesOf(name, file);
    if (places.length === 0) this.#leftOut.add(file.path, `nothing in it is called ${name}`);
    return places.map((focus) => candidate(file, focus, `you asked for ${name}`));
  }

  /** The definitions of a name, in tests last. */
  async #anywhere(name: string): Promise<Candidate[]> {
    const { last } = partsOf(name);
    const { matches } = await findMatches({
      workspace: this.#workspace, ripgrep: this.#ripgrep, asked: [], signal: this.#signal, terms: { identifiers: [{ text: last, weight: 1 }], words: [] },
    });
    const defines = definitionMatcher(last);
    const defining = matches.filter(({ text, path }) => defines(text, path));
    const paths = [...new Set(defining.map(({ path }) => path))].toSorted((a, b) => Number(isTestPath(a)) - Number(isTestPath(b)));
    const files = await Promise.all(paths.slice(0, MAX_DEFINITIONS * 2).map((path) => this.#workspace.read(path)));
    const found = files.flatMap((answer) => ('file' in answer ? placesOf(name, answer.file).map((focus) => candidate(answer.file, focus, `you asked for ${name}`)) : []));
    if (found.length === 0) this.#leftOut.add(name, 'no file of the project defines it');
    return found.slice(0, MAX_DEFINITIONS);
  }
}

const candidate = (file: TextFile, focus: LineRange, reason: string): Candidate => ({
  file, focus, wish: focus, anchor: focus.start, score: 0, reasons: [reason],
});

/** `Route.match`, `Route::match` and `Route#match`: the last name, and the one that it belongs to. */
function partsOf(name: string): { owner: string | undefined; last: string } {
  const parts = name.split(/[^\p{L}\p{N}_$]+/u).filter((part) => part !== '');
  return { owner: parts.at(-2), last: parts.at(-1) ?? name };
}

/** The definitions of a name, those of its owner first; otherwise the first uses. */
function placesOf(name: string, file: TextFile): LineRange[] {
  const { owner, last } = partsOf(name);
  const defines = definitionMatcher(last);
  const lines = file.lines.flatMap((line, index) => (defines(line, file.path) ? [index + 1] : []));
  const owned = owner === undefined ? [] : lines.filter((line) => belongsTo(owner, line, file));
  const chosen = (owned.length > 0 ? owned : lines).slice(0, MAX_DEFINITIONS);
  if (chosen.length > 0) return chosen.map((line) => clamp(span(blockAt(file.lines, line), { start: line, end: line }), file.lines.length));
  const word = new RegExp(`(?<![\\p{L}\\p{N}_$])${escapeForRegExp(last)}(?![\\p{L}\\p{N}_$])`, 'u');
  return file.lines.flatMap((line, index) => (word.test(line.slice(0, 2_000)) ? [index + 1] : [])).slice(0, MAX_USES)
    .map((line) => around(line, USE_MARGIN, file.lines.length));
}

/** Whether the line names the owner itself, as in Go, or stands in a less indented block that does. */
function belongsTo(owner: string, line: number, { lines }: TextFile): boolean {
  const word = new RegExp(`(?<![\\p{L}\\p{N}_$])${escapeForRegExp(owner)}(?![\\p{L}\\p{N}_$])`, 'u');
  const names = (at: number): boolean => word.test((lines[at - 1] ?? '').slice(0, 2_000));
  if (names(line)) return true;
  let indent = indentOf(lines[line - 1] ?? '');
  for (let above = line - 1; above > 0 && indent > 0; above -= 1) {
    const text = lines[above - 1] ?? '';
    if (text.trim() === '' || indentOf(text) >= indent) continue;
    indent = indentOf(text);
    if (names(above)) return true;
  }
  return false;
}
