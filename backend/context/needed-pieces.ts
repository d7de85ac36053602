import { onlyFileMeant } from './asked-places.ts';
import { indentOf } from './block-at.ts';
import { wholeFile, type Candidate } from './candidates.ts';
import type { GatheredContext } from './context.ts';
import { LeftOut } from './left-out.ts';
import { around, clamp, type LineRange } from './line-range.ts';
import { IDENTIFIER } from './search/words.ts';
import { SEPARATOR, Shelf } from './shelf.ts';
import { definitionsIn } from './symbols/definitions-in.ts';
import type { Definition } from './symbols/definition.ts';
import type { SymbolIndex } from './symbols/symbol-index.ts';
import { tokensOf, unitsIn } from './tokens.ts';
import type { TextFile, Workspace } from './workspace.ts';

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

/** The workspace as it was just listed, and its index. */
export interface Indexed {
  readonly workspace: Workspace;
  readonly index: SymbolIndex;
}

/** The pieces that are asked for, by the same rules as any context. What is not given is in `leftOut` with the reason. */
export async function neededPieces(
  { workspace: folder, needs, tokenBudget, signal }: NeedsRequest, indexed: Indexed | undefined,
): Promise<GatheredContext> {
  const leftOut = new LeftOut();
  const shelf = new Shelf(unitsIn(tokenBudget));
  if (!indexed) leftOut.add(folder, 'no such folder');
  else {
    const giver = new Giver(indexed, leftOut);
    const given = (await Promise.all(needs.map((need) => giver.candidatesFor(need)))).flat();
    signal.throwIfAborted();
    for (const [index, candidate] of given.entries()) {
      const isLast = index === given.length - 1;
      const limit = isLast ? shelf.left : shelf.left * SHARE_WHILE_OTHERS_WAIT;
      if (!shelf.add(candidate, candidate.focus, limit)) shelf.addPart(candidate, limit);
    }
    for (const { file, focus } of given) {
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
  readonly #index: SymbolIndex;
  readonly #leftOut: LeftOut;

  constructor({ workspace, index }: Indexed, leftOut: LeftOut) {
    this.#workspace = workspace;
    this.#index = index;
    this.#leftOut = leftOut;
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

  /** The definitions of a name: where its owner is defined first, in tests last. */
  async #anywhere(name: string): Promise<Candidate[]> {
    const { owner, last } = partsOf(name);
    const pathsOf = (wanted: string): string[] => this.#index.definitions(wanted).map(({ path }) => path);
    const owning = new Set(owner === undefined ? [] : pathsOf(owner));
    const paths = [...new Set(pathsOf(last))].sort((a, b) => Number(owning.has(b)) - Number(owning.has(a)));
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

/** The definitions of a name, those of its owner alone if there are such; otherwise the first uses. */
function placesOf(name: string, file: TextFile): LineRange[] {
  const { owner, last } = partsOf(name);
  const all = definitionsIn(file.path, file.lines).filter((definition) => definition.name === last);
  const owned = owner === undefined ? [] : all.filter((definition) => belongsTo(owner, definition, file));
  const chosen = (owned.length > 0 ? owned : all).slice(0, MAX_DEFINITIONS);
  if (chosen.length > 0) return chosen.map(({ startLine, endLine }) => ({ start: startLine, end: endLine }));
  return file.lines.flatMap((line, index) => (hasName(line, last) ? [index + 1] : [])).slice(0, MAX_USES)
    .map((line) => around(line, USE_MARGIN, file.lines.length));
}

/** Whether the line names the owner itself, as in Go, or stands in a less indented block that does. */
function belongsTo(owner: string, { line }: Definition, { lines }: TextFile): boolean {
  const names = (at: number): boolean => hasName(lines[at - 1] ?? '', owner);
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

function hasName(line: string, name: string): boolean {
  return line.slice(0, 2_000).match(IDENTIFIER)?.includes(name) === true;
}
