import path from 'node:path';
import type { Definition } from '../context/symbols/definition.ts';
import type { SymbolIndex } from '../context/symbols/symbol-index.ts';
import type { SymbolIndexes } from '../context/symbols/symbol-indexes.ts';
import { tokensOf } from '../context/tokens.ts';
import type { TextFile, Workspace } from '../context/workspace.ts';
import type { SuggestRequest } from '../protocol/suggestions.ts';
import type { GapPiece } from '../workers/model.ts';
import { DefinitionShelf } from './definition-shelf.ts';
import { diffOf } from './edit-diffs.ts';
import { NearDefinitions, wordsOnLine } from './near-definitions.ts';
import type { SendableFiles } from './sendable-files.ts';
import { similarWindows, type SimilarWindow } from './similar-windows.ts';
import { WindowShelf } from './window-shelf.ts';

export interface ProjectPiecesOptions {
  readonly files: Pick<SendableFiles, 'workspace' | 'read'>;
  readonly indexes: SymbolIndexes;
  readonly log: (line: string) => void;
}

export type PiecesRequest = Pick<SuggestRequest, 'workspace' | 'path' | 'before' | 'after' | 'openFiles' | 'edits'>;

/** Of all pieces together, as `tokens.ts` estimates them. */
export const MAX_PIECE_TOKENS = 1_500;
const MAX_WINDOW_TOKENS = 400;
const MAX_EDIT_TOKENS = 200;
const EDITS_PATH = 'recent-edits.diff';
/** A listing and an index of a large project take seconds. */
const INDEXING_TIMEOUT_MS = 60_000;
/** Documents whose pieces are kept in their order. */
const MAX_DOCUMENTS = 16;
const MAX_TEXTS = 40;

/** What is shown with one document, and for which state of its line. */
interface Document {
  readonly definitions: DefinitionShelf;
  readonly windows: WindowShelf;
  near: NearDefinitions | undefined;
  /** The index was read again since `near` was made. */
  generation: number;
  line: string;
  pieces: readonly GapPiece[];
}

/**
 * What a worker is shown of the project besides the text around the cursor: signatures of names that the code may need, parts of open files
 * that look like it, and the last edits. Every part comes from a file that may be sent, without secrets. While the person types on in a line,
 * the pieces stay the same or are appended to, so that a server can keep what it has read.
 */
export class ProjectPieces {
  readonly #options: ProjectPiecesOptions;
  readonly #documents = new Map<string, Document>();
  readonly #indexed = new WeakMap<Workspace, Promise<void>>();
  readonly #texts = new Map<string, { readonly workspace: Workspace; readonly text: TextFile | undefined }>();
  #generation = 0;

  constructor(options: ProjectPiecesOptions) {
    this.#options = options;
  }

  /** Reads the project's index, or what has changed since; meanwhile suggestions have the definitions of before, or none. */
  async warmUp(folder: string): Promise<void> {
    const workspace = await this.#options.files.workspace(folder);
    if (workspace) await this.#refresh(workspace);
  }

  /** The most stable pieces first. Empty where nothing of the project may or can be read. */
  async of(request: PiecesRequest): Promise<readonly GapPiece[]> {
    const { files, indexes } = this.#options;
    const workspace = await files.workspace(request.workspace);
    const own = workspace?.relative(request.path);
    if (!workspace || own === undefined) return [];
    this.#refresh(workspace).catch((error: unknown) => this.#options.log(String(error)));
    const document = this.#document(`${workspace.root}\n${own}`);
    const line = lineKey(request.before);
    const isSameLine = document.line === line && document.generation === this.#generation;
    if (isSameLine) return document.pieces;

    const [open, edits] = await Promise.all([this.#openFiles(request, { workspace, own }), this.#edits(request, workspace)]);
    const windows = windowsFor(request, { open, shelf: document.windows });
    const index = indexes.warm(workspace.root);
    if (document.generation !== this.#generation || !document.near) document.near = index && new NearDefinitions(index, own);
    const left = MAX_PIECE_TOKENS - costOf(windows) - (edits ? Math.max(MAX_EDIT_TOKENS, costOf([edits])) : 0);
    const definitions = document.near && index ? document.definitions.update(document.near.at(request), left, containerIn(index)) : [];
    document.generation = this.#generation;
    document.line = line;
    document.pieces = [...definitions, ...windows, ...(edits ? [edits] : [])].map(onOneLine);
    return document.pieces;
  }

  #refresh(workspace: Workspace): Promise<void> {
    let refreshing = this.#indexed.get(workspace);
    if (!refreshing) {
      refreshing = this.#options.indexes.refreshed(workspace, AbortSignal.timeout(INDEXING_TIMEOUT_MS)).then(() => {
        this.#generation += 1;
      }, (error: unknown) => this.#options.log(`The definitions of ${workspace.root} are not shown with suggestions: ${String(error)}`));
      this.#indexed.set(workspace, refreshing);
    }
    return refreshing;
  }

  #document(key: string): Document {
    const document = this.#documents.get(key)
      ?? { definitions: new DefinitionShelf(), windows: new WindowShelf(), near: undefined, generation: -1, line: '', pieces: [] };
    // The last one used is the last one of the map.
    this.#documents.delete(key);
    this.#documents.set(key, document);
    const [oldest] = this.#documents.keys();
    if (this.#documents.size > MAX_DOCUMENTS && oldest !== undefined) this.#documents.delete(oldest);
    return document;
  }

  async #openFiles({ workspace: folder, openFiles }: PiecesRequest, { workspace, own }: { workspace: Workspace; own: string }): Promise<readonly TextFile[]> {
    const texts = await Promise.all(openFiles.map((file) => this.#text(folder, { file, workspace })));
    const files = texts.filter((text) => text !== undefined).filter(({ path: file }) => file !== own && workspace.has(file));
    return [...new Map(files.map((file) => [file.path, file])).values()];
  }

  /** Where a listing is new, the text of before serves once more: to read and look through all open files again takes longer than a key. */
  async #text(folder: string, { file, workspace }: { file: string; workspace: Workspace }): Promise<TextFile | undefined> {
    const known = this.#texts.get(file);
    if (known?.workspace === workspace) return known.text;
    const reading = this.#options.files.read(folder, file).then((text) => {
      this.#texts.delete(file);
      this.#texts.set(file, { workspace, text });
      const [oldest] = this.#texts.keys();
      if (this.#texts.size > MAX_TEXTS && oldest !== undefined) this.#texts.delete(oldest);
      return text;
    });
    return known ? known.text : reading;
  }

  /** The newest edits that fit, in the order in which they were made. */
  async #edits({ workspace: folder, edits }: PiecesRequest, workspace: Workspace): Promise<GapPiece | undefined> {
    const diffs: string[] = [];
    for (const edit of edits.toReversed()) {
      const file = await this.#options.files.read(folder, edit.path);
      const own = workspace.relative(edit.path);
      if (!file || own === undefined) continue;
      // Secrets are recognized in whole files, too: an edit beside one is not shown.
      const end = edit.line + edit.after.split('\n').length;
      if ([...file.secrets.keys()].some((line) => line >= edit.line && line <= end + 1)) continue;
      const diff = diffOf(edit, own);
      if (diff === undefined) continue;
      if (tokensOf([diff, ...diffs].join('\n')) > MAX_EDIT_TOKENS - 12) break;
      diffs.unshift(diff);
    }
    return diffs.length > 0 ? { path: EDITS_PATH, text: diffs.join('\n') } : undefined;
  }
}

/** The text above the line, and the names that are typed in it to their end: what is shown depends on no more of the line. */
function lineKey(before: string): string {
  const start = before.lastIndexOf('\n') + 1;
  const { settled, open } = wordsOnLine(before.slice(start));
  return [before.slice(0, start), ...settled, open ?? ''].join('\n');
}

function windowsFor({ before }: PiecesRequest, { open, shelf }: { open: readonly TextFile[]; shelf: WindowShelf }): readonly GapPiece[] {
  const texts = new Map(open.map((file) => [file.path, file.lines]));
  const isThere = ({ path: file, text }: SimilarWindow): boolean => texts.get(file)?.join('\n').includes(text) ?? false;
  const found = similarWindows(before.split(/\r?\n/).slice(0, -1), open);
  return shelf.update(found, { tokens: MAX_WINDOW_TOKENS, isThere }).map(({ path: file, text }) => ({ path: file, text }));
}

function containerIn(index: SymbolIndex): (definition: Definition) => Definition | undefined {
  return ({ path: file, line }) => index.file(file)?.definitions.findLast((other) =>
    (other.kind === 'class' || other.kind === 'type' || other.kind === 'module') && other.line < line && other.endLine >= line);
}

function costOf(pieces: readonly GapPiece[]): number {
  return pieces.reduce((sum, { path: file, text }) => sum + tokensOf(`${file}\n${text}`) + 8, 0);
}

/** A file's name may hold any character but the separator: it must not begin a line of its own. */
function onOneLine({ path: file, text }: GapPiece): GapPiece {
  return { path: path.posix.normalize(file).replace(/\s+/g, ' '), text };
}
