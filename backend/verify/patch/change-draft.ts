import { counted } from '../../common/counted.ts';
import type { FileEdit, Patch, RefusedEdit } from './patch.ts';
import { protectedReason } from '../files/protected-paths.ts';
import { MAX_FILE_BYTES } from '../files/text-file.ts';

const MAX_FILES = 1_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_NOTES = 20;

/** A person's change as a patch. */
export interface ReadChange {
  /** Includes edits of protected files. The judge leaves them out. */
  readonly patch: Patch;
  /** The parts of the change that are not in the patch, one sentence each. */
  readonly notes: readonly string[];
}

/** Collects a change, file by file. */
export class ChangeDraft {
  readonly #edits: FileEdit[] = [];
  readonly #refused = new Map<string, string>();
  readonly #leftOut = new Map<string, string>();
  readonly #permissions = new Set<string>();
  #bytes = 0;

  /** Null means that there is no such file. Equal texts are not an edit. */
  edit(path: string, before: string | null, after: string | null): void {
    if (before === after) return;
    if (after?.includes('\0')) return this.cannot(path, 'The new content is not text.');
    const bytes = Buffer.byteLength(after ?? '');
    if (bytes > MAX_FILE_BYTES) return this.cannot(path, `The new content is larger than ${MAX_FILE_BYTES / 1024} KiB.`);
    this.#bytes += bytes;
    this.#edits.push({ path, kind: before === null ? 'create' : after === null ? 'delete' : 'modify', before, after });
  }

  /** A change that an edit cannot express. It is ignored in a protected file. In another file it makes the whole change inadmissible. */
  cannot(path: string, reason: string): void {
    const isProtected = protectedReason(path);
    if (isProtected === undefined) this.refuse(path, reason);
    else this.#leftOut.set(path, isProtected);
  }

  refuse(path: string, reason: string): void {
    const shown = path.slice(0, 300);
    if (!this.#refused.has(shown)) this.#refused.set(shown, reason);
  }

  /** A change of the executable bit. Edits change only contents. */
  leavePermissions(path: string): void {
    this.#permissions.add(path);
  }

  finish(): ReadChange {
    if (this.#edits.length > MAX_FILES || this.#bytes > MAX_BYTES)
      this.refuse(
        '(change)',
        `It is more than ${MAX_FILES} files or ${MAX_BYTES / 1024 ** 2} MiB. List files that are not part of it in .gitignore.`,
      );
    const refused: RefusedEdit[] = [...this.#refused].map(([path, reason]) => ({ path, reason }));
    const leftOut = [...this.#leftOut].map(([path, reason]) => `${path} was left as it is: ${reason}`);
    const permissions = [...this.#permissions].map((path) => `${path} keeps its permissions: only contents are judged.`);
    return { patch: { edits: this.#edits, refused }, notes: [...firstOf(leftOut), ...firstOf(permissions)] };
  }
}

/** A folder of binary files should not fill the screen with notes. */
export function firstOf(notes: readonly string[]): readonly string[] {
  const more = notes.length - MAX_NOTES;
  return more > 0 ? [...notes.slice(0, MAX_NOTES), `The same holds for ${counted(more, 'more file')}.`] : notes;
}
