import { parentOf } from './plain-folders.ts';

export type CopyEntry =
  | {
    readonly kind: 'file';
    /** The name of its content in the content store. */
    readonly content: string;
    readonly size: number;
    /** Permission bits. */
    readonly mode: number;
  }
  | { readonly kind: 'link'; readonly target: string };

/** What a copy holds. Paths are relative, with forward slashes; '' is the copy's own folder. */
export class CopyTree {
  readonly #folders = new Set<string>(['']);
  readonly #entries = new Map<string, CopyEntry>();

  /** Each after the folder that it is in. */
  get folders(): ReadonlySet<string> {
    return this.#folders;
  }

  get entries(): ReadonlyMap<string, CopyEntry> {
    return this.#entries;
  }

  add(path: string, entry: CopyEntry): void {
    this.addFolder(parentOf(path));
    this.#entries.set(path, entry);
  }

  addFolder(folder: string): void {
    if (this.#folders.has(folder)) return;
    this.addFolder(parentOf(folder));
    this.#folders.add(folder);
  }

  has(path: string): boolean {
    return this.#entries.has(path) || this.#folders.has(path);
  }

  /** Whether both hold the same files and links, in whatever order. */
  hasSameEntries({ entries }: CopyTree): boolean {
    if (entries.size !== this.#entries.size) return false;
    for (const [path, entry] of this.#entries) {
      const other = entries.get(path);
      if (!other || !isSameEntry(entry, other)) return false;
    }
    return true;
  }
}

export function isSameEntry(one: CopyEntry, other: CopyEntry): boolean {
  if (one === other) return true;
  if (one.kind === 'link') return other.kind === 'link' && one.target === other.target;
  return other.kind === 'file' && one.content === other.content && one.mode === other.mode;
}
