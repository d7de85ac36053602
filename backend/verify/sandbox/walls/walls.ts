import { existsSync } from 'node:fs';
import path from 'node:path';
import { bubblewrapLine } from './bubblewrap-line.ts';
import { namespacesLine } from './namespaces/namespaces-line.ts';
import type { WalledLine, WallsAround, WallsKind } from './walled-line.ts';

/** The line depends on the file system, so it is not kept for long. */
const KEPT_MS = 30_000;
const KEPT_LINES = 64;

/**
 * Writes the command lines of the sandbox. The library takes about 15 ms for one with bubblewrap, so runs that differ only in the names of
 * their folders share a line.
 */
export class Walls {
  readonly #runsFolder: string;
  readonly #kept = new Map<string, { walled: WalledLine; until: number }>();

  /** `runsFolder` contains the folders of all runs. */
  constructor(runsFolder: string) {
    this.#runsFolder = runsFolder;
  }

  /** Throws the signal's reason, a SandboxLineError, or an error of the library or the file system. `kind` is for Linux. */
  async around(walls: WallsAround, kind: WallsKind, signal: AbortSignal): Promise<WalledLine> {
    const present: WallsAround = {
      // In some containers the home folder is /. Hiding it would hide everything.
      hidden: walls.hidden.filter((entry) => entry !== '/' && existsSync(entry)),
      readable: walls.readable.filter((entry) => existsSync(entry)),
      writable: walls.writable.filter((entry) => existsSync(entry)),
      ...(walls.shown && { shown: walls.shown }),
    };
    // Loaded only there.
    if (process.platform === 'darwin') return (await import('./mac-line.ts')).macLine(present);
    if (kind === 'namespaces') return namespacesLine(present, this.#runsFolder);
    const names = this.#runNames(present);
    const key = blank(JSON.stringify(present), names);
    const kept = this.#kept.get(key);
    if (kept && kept.until > performance.now()) return { ...kept.walled, line: fill(kept.walled.line, names) };
    const { isReusable, ...walled } = await bubblewrapLine(present, signal);
    const line = blank(walled.line, names);
    if (isReusable && fill(line, names) === walled.line) this.#keep(key, { ...walled, line });
    return walled;
  }

  #keep(key: string, walled: WalledLine): void {
    this.#kept.delete(key);
    this.#kept.set(key, { walled, until: performance.now() + KEPT_MS });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_LINES) break;
      this.#kept.delete(oldest);
    }
  }

  /** The names of the runs' folders among these. Each name is unique. */
  #runNames({ readable, writable, shown }: WallsAround): string[] {
    const names = [...readable, ...writable, ...(shown ? [shown.folder] : [])].map((entry) => path.relative(this.#runsFolder, entry).split(path.sep)[0] ?? '');
    return [...new Set(names.filter((name) => /^\d+-\w{6}$/.test(name)))];
  }
}

const gap = (index: number): string => `\0${index}\0`;
const blank = (text: string, names: readonly string[]): string =>
  names.reduce((done, name, index) => done.replaceAll(name, gap(index)), text);
const fill = (text: string, names: readonly string[]): string =>
  names.reduce((done, name, index) => done.replaceAll(gap(index), name), text);
