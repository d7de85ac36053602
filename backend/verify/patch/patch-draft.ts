import { languageOf } from '../syntax/language.ts';
import { likeOriginal, MAX_FILE_BYTES, readTextFile, toPlainText } from '../files/text-file.ts';
import { isPathOfSuite, isPathOfTest, protectedReason } from '../files/protected-paths.ts';
import { checkWorkspacePath, isSameFile, refusalOnDisk } from '../files/workspace-path.ts';
import { whyItChangesTests } from './added-tests.ts';
import { leaveOutTests, type FileEdit, type Patch, type RefusedEdit } from './patch.ts';
import { damageOf } from './damage.ts';
import { isMark } from './elisions.ts';
import { asWorkspacePath } from './written-path.ts';

const MAX_FILES = 200;

/** How an answer changes a file: as a whole, or part by part. */
export type EditWay = 'whole' | 'parts';

export interface DraftFile {
  readonly path: string;
  way: EditWay | undefined;
  /** Its parts come from code blocks: a later block may be the whole file. */
  fromCode?: boolean;
  /** All that was changed is certainly as the answer means it, even where it is no program. */
  isCertain?: boolean;
  /** The text on disk, with its own line ends. */
  readonly onDisk: string | null;
  /** The text on disk as plain text. Null if there is no such file. */
  readonly original: string | null;
  /** The plain text with the edits so far. */
  current: string | null;
}

export interface DraftOptions {
  /** The files that were shown with the question. */
  readonly shown: readonly string[];
  /** The question asks for tests: edits that add some are edits like others. */
  readonly newTests?: boolean;
}

/** The edits of one answer while they are read, one entry per file. */
export class PatchDraft {
  readonly base: string;
  readonly #options: DraftOptions;
  readonly #files = new Map<string, DraftFile>();
  readonly #refused = new Map<string, RefusedEdit>();
  readonly #refusedIfAlone = new Map<string, RefusedEdit>();

  constructor(base: string, options: DraftOptions) {
    this.base = base;
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#files.size === 0 && this.#refused.size === 0;
  }

  refuse(path: string, reason: string, { isForbidden = false, isOfTests = false } = {}): void {
    const shown = path.slice(0, 300);
    if (!this.#refused.has(shown)) this.#refused.set(shown, { path: shown, reason, ...(isForbidden && { isForbidden }), ...(isOfTests && { isOfTests }) });
    this.#files.delete(path);
  }

  /** Refuses what may be no change at all: it counts only where the answer has no other one. */
  refuseIfAlone(path: string, reason: string): void {
    if (!this.#refusedIfAlone.has(path)) this.#refusedIfAlone.set(path, { path, reason });
  }

  /** The path of the workspace that a written one stands for. */
  resolve(written: string): Promise<string> {
    return asWorkspacePath(written, this.base, this.#options.shown);
  }

  /** The file to edit. Undefined if it is refused, or missing although it must exist. */
  async open(written: string, way: EditWay | undefined, { onlyIfPresent = false } = {}): Promise<DraftFile | undefined> {
    const checked = checkWorkspacePath(await this.resolve(written));
    if (checked.refused !== undefined) return void this.refuse(written, checked.refused, { isForbidden: true });
    const { path } = checked;
    if (this.#refused.has(path)) return undefined;
    const opened = this.#files.get(path);
    if (opened) return way === undefined || this.claim(opened, way) ? opened : undefined;
    const twin = [...this.#files.keys()].find((other) => isSameFile(other, path));
    if (twin !== undefined) return void this.refuse(path, `The answer writes ${twin}, which is the same file on this system.`);
    const diskReason = await refusalOnDisk(this.base, path);
    const found = diskReason === undefined ? await readTextFile(this.base, path) : undefined;
    if (onlyIfPresent && found?.kind === 'absent') return undefined;
    const isTest = this.#options.newTests === true && isPathOfTest(path);
    if (diskReason !== undefined) return void this.refuse(path, diskReason, { isForbidden: true });
    const reason = isTest ? undefined : protectedReason(path);
    if (reason !== undefined) return void this.refuse(path, reason, { isForbidden: true, isOfTests: isPathOfSuite(path) });
    if (found?.kind === 'refused') return void this.refuse(path, found.reason, { isForbidden: true });
    if (this.#files.size >= MAX_FILES) return void this.refuse(path, `The answer changes more than ${MAX_FILES} files.`);
    const onDisk = found?.kind === 'text' ? found.text : null;
    const original = onDisk === null ? null : toPlainText(onDisk);
    const file: DraftFile = { path, way, onDisk, original, current: original };
    this.#files.set(path, file);
    return file;
  }

  /** Says how a file is changed. False, with the file refused, if that contradicts how it was changed before. */
  claim(file: DraftFile, way: EditWay): boolean {
    if (file.way !== undefined && file.way !== way) {
      this.refuse(file.path, 'The answer changes the file in two different ways.');
      return false;
    }
    file.way = way;
    return true;
  }

  async finish(): Promise<Patch> {
    const edits: FileEdit[] = [];
    for (const file of [...this.#files.values()]) {
      const edit = await this.#editOf(file);
      if (edit) edits.push(edit);
    }
    const refused = edits.length > 0 || this.#refused.size > 0 ? this.#refused : this.#refusedIfAlone;
    return leaveOutTests({ edits, refused: [...refused.values()] });
  }

  async #editOf({ path, fromCode = false, isCertain = false, onDisk, original, current }: DraftFile): Promise<FileEdit | undefined> {
    if (current === null) {
      const why = onDisk === null ? undefined : await this.#whyItChangesTests(path, onDisk, null);
      if (why !== undefined) return void this.refuse(path, why, { isOfTests: true });
      return onDisk === null ? undefined : { path, kind: 'delete', before: onDisk, after: null };
    }
    if (current.includes('\0')) return void this.refuse(path, 'The new content is not text.');
    if (Buffer.byteLength(current) > MAX_FILE_BYTES)
      return void this.refuse(path, `The new content is larger than ${MAX_FILE_BYTES / 1024} KiB.`);
    if (isMark(current) && !isMark(original ?? '')) return void this.refuse(path, 'The answer leaves out parts of the file that cannot be filled in.');
    // A code block does not tell whether the last line has an end, so the file's own form stays.
    if (original !== null && withoutLastLineEnd(current) === withoutLastLineEnd(original)) return undefined;
    const language = isCertain ? undefined : languageOf(path);
    const damage = language && (await damageOf(original, current, language, { isPlaced: fromCode }));
    if (damage !== undefined) return void this.refuse(path, damage);
    if (onDisk === null) return { path, kind: 'create', before: null, after: current };
    const why = await this.#whyItChangesTests(path, onDisk, current);
    if (why !== undefined) return void this.refuse(path, why, { isOfTests: true });
    return { path, kind: 'modify', before: onDisk, after: likeOriginal(current, onDisk) };
  }

  /** Whoever is asked for tests may add some to those that are there. */
  async #whyItChangesTests(path: string, before: string, after: string | null): Promise<string | undefined> {
    return this.#options.newTests === true && isPathOfTest(path) ? await whyItChangesTests({ path, before, after }) : undefined;
  }
}

const withoutLastLineEnd = (text: string): string => text.replace(/\n$/, '');
