import { candidatesFor, onlyFileMeant, placesIn, type Place } from './asked-places.ts';
import type { Candidate } from './candidates.ts';
import type { ContextPiece, ContextRequest, GatheredContext } from './context.ts';
import { isTestPath } from './file-names.ts';
import { languagesOf } from './languages.ts';
import { LeftOut } from './left-out.ts';
import { withoutPlaces } from './mentions.ts';
import { neededPieces, type NeedsRequest } from './needed-pieces.ts';
import { Ripgrep } from './ripgrep.ts';
import { askedWords } from './search/asked-words.ts';
import { searchIndex } from './search/search-index.ts';
import type { SymbolIndex } from './symbols/symbol-index.ts';
import { SymbolIndexes } from './symbols/symbol-indexes.ts';
import { SEPARATOR, Shelf } from './shelf.ts';
import { PROBLEMS, problemsPiece, TEST_OUTPUT, testOutputPiece, type SpokenPiece } from './spoken-pieces.ts';
import { termsOf } from './terms.ts';
import { tokensOf, unitsIn, unitsOf } from './tokens.ts';
import { Workspace, type TextFile } from './workspace.ts';
import { withoutControls } from '../common/without-controls.ts';

/** Maximum shares of the budget for tool output. The rest is for code. */
const TEST_OUTPUT_SHARE = 0.25;
const PROBLEMS_SHARE = 0.1;
/** More diagnostics than this are noise. */
const MAX_PROBLEMS = 20;
/** A requested file that takes more than this share of the budget is first shown in parts. */
const LARGE_SHARE = 0.5;
/** While other places wait, one place takes at most this share of the remaining budget. */
const SHARE_WHILE_OTHERS_WAIT = 0.6;
/** Of one requested file, at most so many others are shown for their imports alone. */
const MAX_NEAR = 8;
const LEAST_UNITS = 150;

export interface ContextGathererOptions {
  /** Absolute path of ripgrep. Undefined if there is none for this platform; then nothing is searched. */
  readonly ripgrepPath: string | undefined;
  /** Shared with whatever else reads the same workspaces, so that each is indexed once. */
  readonly indexes?: SymbolIndexes | undefined;
}

/**
 * Chooses the parts of the workspace that are sent with a question.
 *
 * First come the places that the request points at (`asked-places.ts`), then what the search finds for its words (`search/`). All requested
 * places get their lines before any of them grows to the whole file. Search results come last.
 * Equal input and an equal workspace give equal text.
 */
export class ContextGatherer {
  readonly #ripgrep: Ripgrep;
  readonly #indexes: SymbolIndexes;

  constructor({ ripgrepPath, indexes = new SymbolIndexes() }: ContextGathererOptions) {
    this.#ripgrep = new Ripgrep(ripgrepPath);
    this.#indexes = indexes;
  }

  /** Never throws because of the workspace's content. @throws the signal's reason when it aborts */
  async gather(given: ContextRequest): Promise<GatheredContext> {
    given.signal.throwIfAborted();
    const request = tidied(given);
    const { workspace: folder, signal } = request;
    const leftOut = new LeftOut();
    const workspace = folder === undefined ? undefined : await Workspace.open(folder, this.#ripgrep, signal);
    if (folder !== undefined && !workspace) leftOut.add(folder, 'no such folder');
    if (folder === undefined) refuseAll(request, leftOut);
    if (workspace?.listProblem !== undefined) leftOut.add('(search)', workspace.listProblem);

    const asked = workspace ? await readAsked(request, workspace, leftOut) : { read: [], refused: new Set<string>() };
    const budget = unitsIn(request.tokenBudget);
    const spoken = spokenPieces(request, { budget, refused: asked.refused, leftOut });
    const shelf = new Shelf(budget - spoken.reduce((sum, { text }) => sum + unitsOf(text + SEPARATOR), 0));
    if (workspace) await this.#fill(shelf, { request, workspace, read: asked.read, leftOut, budget });
    signal.throwIfAborted();
    return { ...contextOf(shelf, spoken, leftOut), ...(workspace && { languages: languagesOf(workspace.files) }) };
  }

  /** What somebody asks to see. Never throws because of the workspace's content. @throws the signal's reason when it aborts */
  async supply(request: NeedsRequest): Promise<GatheredContext> {
    const workspace = await Workspace.open(request.workspace, this.#ripgrep, request.signal);
    return neededPieces(request, workspace && { workspace, index: await this.#indexes.refreshed(workspace, request.signal) });
  }

  async #fill(shelf: Shelf, { request, workspace, read, leftOut, budget }: Filling): Promise<void> {
    const isFile = (name: string): boolean => onlyFileMeant(name, workspace) !== undefined;
    const question = withoutPlaces(request.question, isFile);
    const terms = termsOf({
      question,
      selected: read.filter(({ place }) => place.source === 'selection' || place.source === 'learned').flatMap(selectedLines),
      diagnostics: request.diagnostics.map(({ message }) => message),
      testOutput: withoutPlaces([request.testOutput, request.clues].filter(Boolean).join('\n'), isFile),
    });
    const asked = read.flatMap(({ place, file }) => candidatesFor(place, file, { terms, largeUnits: budget * LARGE_SHARE }));
    putAsked(shelf, asked.sort((a, b) => b.score - a.score), leftOut);

    const index = await this.#indexes.refreshed(workspace, request.signal);
    const words = askedWords(question, terms.identifiers);
    const found = await searchIndex({ index, workspace, words, near: filesNear(read, index), signal: request.signal });
    for (const { path, reason } of found.refused) leftOut.add(path, reason);
    const unused = new Set(request.unused);
    putFound(shelf, found.candidates.toSorted((a, b) => Number(unused.has(a.file.path)) - Number(unused.has(b.file.path))), leftOut);
  }
}

interface ReadPlace {
  readonly place: Place;
  readonly file: TextFile;
}

interface Filling {
  readonly request: ContextRequest;
  readonly workspace: Workspace;
  readonly read: readonly ReadPlace[];
  readonly leftOut: LeftOut;
  readonly budget: number;
}

/** Removes terminal colours from the test output and keeps the most important problems: errors first, otherwise in the given order. */
function tidied(request: ContextRequest): ContextRequest {
  const { diagnostics, testOutput = '', clues = '' } = request;
  const ordered = [...diagnostics].sort((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'));
  return { ...request, diagnostics: ordered.slice(0, MAX_PROBLEMS), testOutput: withoutControls(testOutput), clues: withoutControls(clues) };
}

/** Reads the requested places. `refused` has the paths, as given, of files that exist but may not be sent. */
async function readAsked(
  request: ContextRequest, workspace: Workspace, leftOut: LeftOut,
): Promise<{ read: ReadPlace[]; refused: ReadonlySet<string> }> {
  const { places, unclear } = placesIn(request, workspace);
  for (const { path, reason } of unclear) leftOut.add(path, reason);
  const read: ReadPlace[] = [];
  const refused = new Set<string>();
  for (const place of places) {
    request.signal.throwIfAborted();
    const answer = await workspace.read(place.path);
    if ('file' in answer) {
      read.push({ place, file: answer.file });
      continue;
    }
    const { path, reason, missing } = answer.refusal;
    if (!missing) refused.add(place.path);
    if (place.certain || !missing) leftOut.add(path, reason);
  }
  return { read, refused };
}

/** Pieces with tool output. Problems in files that may not be sent are omitted, because a message may quote its file. */
function spokenPieces(
  { testOutput = '', diagnostics }: ContextRequest,
  { budget, refused, leftOut }: { budget: number; refused: ReadonlySet<string>; leftOut: LeftOut },
): SpokenPiece[] {
  const problems = diagnostics.filter(({ path }) => !refused.has(path));
  const spoken = [
    { path: TEST_OUTPUT, wanted: testOutput.trim() !== '', piece: testOutputPiece(testOutput, budget * TEST_OUTPUT_SHARE) },
    { path: PROBLEMS, wanted: problems.length > 0, piece: problemsPiece(problems, budget * PROBLEMS_SHARE) },
  ];
  for (const { path, wanted, piece } of spoken) if (wanted && !piece) leftOut.add(path, 'over the token budget');
  return spoken.flatMap(({ piece }) => piece ?? []);
}

function selectedLines({ place: { startLine, endLine }, file }: ReadPlace): readonly string[] {
  return startLine === undefined ? file.lines.slice(0, 200) : file.lines.slice(startLine - 1, endLine ?? startLine);
}

function putAsked(shelf: Shelf, asked: readonly Candidate[], leftOut: LeftOut): void {
  for (const [index, candidate] of asked.entries()) {
    const isLast = index === asked.length - 1;
    const limit = isLast ? shelf.left : shelf.left * SHARE_WHILE_OTHERS_WAIT;
    if (!shelf.add(candidate, candidate.focus, limit)) shelf.addPart(candidate, limit);
  }
  // First complete the pieces that were shortened while others waited, then grow pieces to their wish.
  for (const candidate of asked) if (!shelf.shows(candidate.file, candidate.focus)) shelf.add(candidate, candidate.focus);
  for (const candidate of asked) if (!shelf.shows(candidate.file, candidate.wish)) shelf.add(candidate, candidate.wish);
  for (const { file, asked: wanted } of asked) {
    if (wanted === undefined || shelf.shows(file, wanted)) continue;
    const shown = shelf.labelOf(file);
    leftOut.add(file.path, shown === '' ? 'over the token budget' : `all but lines ${shown}: over the token budget`);
  }
}

/**
 * Files that belong to the places of the request: tests that import them, and what a failing test imports.
 * @returns their paths and reasons
 */
function filesNear(read: readonly ReadPlace[], index: SymbolIndex): ReadonlyMap<string, string> {
  const near = new Map<string, string>();
  const asked = new Set(read.map(({ file }) => file.path));
  const add = (files: readonly string[], reason: string): void => {
    for (const file of files.slice(0, MAX_NEAR)) if (!asked.has(file) && !near.has(file)) near.set(file, reason);
  };
  for (const file of asked) {
    if (isTestPath(file)) add(index.importsOf(file), `imported by ${file}`);
    else add(index.importersOf(file).filter(isTestPath), `test that imports ${file}`);
  }
  return near;
}

function putFound(shelf: Shelf, found: readonly Candidate[], leftOut: LeftOut): void {
  const over: Candidate[] = [];
  for (const candidate of found) {
    // A header alone takes this much. What is left is not worth the search for something so short.
    if (shelf.left < LEAST_UNITS || !shelf.add(candidate, candidate.focus)) over.push(candidate);
  }
  const [first, ...more] = new Set(over.filter(({ file }) => shelf.labelOf(file) === '').map(({ file }) => file.path));
  if (first === undefined) return;
  leftOut.add(first, 'found by the search, over the token budget');
  if (more.length > 0) leftOut.add('(search)', `${more.length} more files that it found are over the token budget`);
}

/** Without a workspace no place can be read. */
function refuseAll({ files, selection, openFile }: ContextRequest, leftOut: LeftOut): void {
  for (const place of [selection, ...files, openFile]) if (place) leftOut.add(place.path, 'no folder is open');
}

function contextOf(shelf: Shelf, spoken: readonly SpokenPiece[], leftOut: LeftOut): GatheredContext {
  const fromFiles = shelf.pieces();
  for (const { piece, file } of fromFiles) leftOut.addSecrets(piece, file.secrets);
  for (const { piece, secrets } of spoken) leftOut.addSecrets(piece, secrets);
  const all: { piece: ContextPiece; text: string }[] = [...fromFiles, ...spoken];
  const text = all.map((one) => one.text).join(SEPARATOR);
  return { pieces: all.map(({ piece }) => piece), leftOut: leftOut.entries, tokens: tokensOf(text), text };
}
