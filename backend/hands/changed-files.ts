import { lstatSync } from 'node:fs';
import path from 'node:path';
import { Slices } from '../common/slices.ts';
import { RipgrepUnavailableError, type Ripgrep } from '../context/ripgrep.ts';

/** Folders of caches and dependencies, for projects without ignore files. What programs put there is no work of the step. */
const SKIPPED = ['.git', '.hg', '.svn', 'node_modules', '.venv', '__pycache__', '.pytest_cache', '.mypy_cache', '.cache', 'target', '.gradle'];

/** Notices which files of a copy a command has changed. Files that ignore files name count only if they were there in the beginning. */
export class ChangedFiles {
  readonly #folder: string;
  readonly #own: ReadonlySet<string>;
  readonly #ripgrep: Ripgrep;
  readonly #slices = new Slices();
  #seen: Map<string, string> | undefined;

  /** @param own the paths that were there in the beginning */
  constructor(folder: string, own: ReadonlySet<string>, ripgrep: Ripgrep) {
    this.#folder = folder;
    this.#own = own;
    this.#ripgrep = ripgrep;
  }

  /** Remembers the files as they are. */
  async look(signal: AbortSignal): Promise<void> {
    this.#seen ??= await this.#stamps(signal);
  }

  /** The paths whose files are new, gone, or other ones than when they were last seen. A link counts as a file. */
  async since(signal: AbortSignal): Promise<string[]> {
    const before = this.#seen ?? new Map<string, string>();
    const now = await this.#stamps(signal);
    this.#seen = now;
    return [...new Set([...before.keys(), ...now.keys()])].filter((file) => before.get(file) !== now.get(file)).sort();
  }

  /** Takes a file as seen that was written in the meantime. */
  written(file: string): void {
    const stamp = this.#stamp(file);
    if (stamp === undefined) this.#seen?.delete(file);
    else this.#seen?.set(file, stamp);
  }

  async #stamps(signal: AbortSignal): Promise<Map<string, string>> {
    const files = new Set(this.#own);
    // Without ripgrep, new files that a command makes are not noticed.
    await this.#ripgrep.run({
      args: [
        '--files', '--hidden', '--null', '--no-messages', '--path-separator', '/', '--no-require-git', '--no-ignore-parent', '--no-ignore-global', '--no-ignore-exclude',
        ...SKIPPED.flatMap((name) => ['--glob', `!**/${name}`]),
      ],
      folder: this.#folder, separator: '\0', onRecord: (file) => files.add(file), signal,
    }).catch((error: unknown) => {
      if (!(error instanceof RipgrepUnavailableError)) throw error;
    });
    const stamps = new Map<string, string>();
    await this.#slices.forEach(files, (file) => {
      const stamp = this.#stamp(file);
      if (stamp !== undefined) stamps.set(file, stamp);
    });
    return stamps;
  }

  /** The kernel sets the inode's time of change: no command can set it back. */
  #stamp(file: string): string | undefined {
    try {
      const found = lstatSync(path.join(this.#folder, file), { bigint: true, throwIfNoEntry: false });
      return found && !found.isDirectory() ? `${found.ino}:${found.size}:${found.ctimeNs}` : undefined;
    } catch {
      // A part of the path became a file.
      return undefined;
    }
  }
}
