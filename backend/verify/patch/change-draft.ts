import { counted } from '../../common/counted.ts';
import type { FileEdit, Patch, RefusedEdit } from './patch.ts';
import { protectedReason } from '../files/protected-paths.ts';
import { MAX_FILE_BYTES } from '../files/text-file.ts';

const MAX_FILES = 1_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_NOTES = 20;

/** A person's change as a patch. */
export interface ReadChange {
  /** With edits to protected files in it: whoever judges it leaves them out. */
  readonly patch: Patch;
  /** What of the change is not in the patch, a sentence each. */
  readonly notes: readonly string[];
}

/** Collects a change, file by file. */
export class ChangeDraft {
  readonly #edits: FileEdit[] = [];
  readonly #refused = new Map<string, string>();
  readonly #leftOut = new Map<string, string>();
  readonly #permissions = new Set<string>();
  #bytes = 0;

  /** Null stands for no such file. The same twice is no edit. */
  edit(path: string, before: string | null, after: string | null): void {
    if (before === after) return;
    if (after?.includes('\0')) return this.cannot(path, 'The new content is not text.');
    const bytes = Buffer.byteLength(after ?? '');
    if (bytes > MAX_FILE_BYTES) return this.cannot(path, `The new content is larger than ${MAX_FILE_BYTES / 1024} KiB.`);
    this.#bytes += bytes;
    this.#edits.push({ path, kind: before === null ? 'create' : after === null ? 'delete' : 'modify', before, after });
  }

  /** A change that no edit can say: a protected file stays as it is anyway, any other makes the whole inadmissible. */
  cannot(path: string, reason: string): void {
    const isProtected = protectedReason(path);
    if (isProtected === undefined) this.refuse(path, reason);
    else this.#leftOut.set(path, isProtected);
  }

  refuse(path: string, reason: string): void {
    const shown = path.slice(0, 300);
    if (!this.#refused.has(shown)) this.#refused.set(shown, reason);
  }

  /** The file may be executed from now on, or no longer: edits are of contents only. */
  leavePermissions(path: string): void {
    this.#permissions.add(path);
  }

  finish(): ReadChange {
    if (this.#edits.length > MAX_FILES || this.#bytes > MAX_BYTES)
      this.refuse(
        '(change)',
        `It is more than ${MAX_FILES} files or ${MAX_BYTES / 1024 ** 2} MiB. Let .gitignore name what is no part of it.`,
      );
    const refused: RefusedEdit[] = [...this.#refused].map(([path, reason]) => ({ path, reason }));
    const leftOut = [...this.#leftOut].map(([path, reason]) => `${path} was left as it is: ${reason}`);
    const permissions = [...this.#permissions].map((path) => `${path} keeps its permissions: only contents are judged.`);
    return { patch: { edits: this.#edits, refused }, notes: [...firstOf(leftOut), ...firstOf(permissions)] };
  }
}

/** A folder of pictures should not fill the screen. */
export function firstOf(notes: readonly string[]): readonly string[] {
  const more = notes.length - MAX_NOTES;
  return more > 0 ? [...notes.slice(0, MAX_NOTES), `The same holds for ${counted(more, 'more file')}.`] : notes;
}
