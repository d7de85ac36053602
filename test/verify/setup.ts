import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isProcessAlive } from '../../backend/protocol/client/process-alive.ts';
import { MemoryBaseRunCache } from '../../backend/verify/judge/base-run-cache.ts';
import { CopyPool } from '../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../backend/verify/files/run-folder.ts';
import { Sandbox } from '../../backend/verify/sandbox/sandbox.ts';
import type { WallsKind } from '../../backend/verify/sandbox/walls/walled-line.ts';
import { Verifier } from '../../backend/verify/verify.ts';

/** A scratch folder with everything that verification needs inside it: gone after the test, whatever happened. */
export interface Scratch extends AsyncDisposable {
  readonly folder: string;
  readonly home: string;
  readonly folders: RunFolders;
  readonly sandbox: Sandbox;
  readonly copies: CopyPool;
  readonly baseRuns: MemoryBaseRunCache;
  readonly verifier: Verifier;
  /** Writes files (path → text; `{ link }` makes a symbolic link) and returns the folder. */
  project(files: Readonly<Record<string, string | { link: string }>>, name?: string): Promise<string>;
}

export async function makeScratch(): Promise<Scratch> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'verify-test-')));
  const home = path.join(folder, 'home');
  await mkdir(home);
  const folders = new RunFolders(path.join(folder, 'runs'), isProcessAlive);
  const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: home, folders });
  const copies = new CopyPool({ folders });
  const baseRuns = new MemoryBaseRunCache();
  return {
    folder,
    home,
    folders,
    sandbox,
    copies,
    baseRuns,
    verifier: new Verifier({ sandbox, folders, copies, baseRuns }),
    project: async (files, name = 'project') => {
      const base = path.join(folder, name);
      for (const [file, content] of Object.entries(files)) {
        const absolute = path.join(base, file);
        await mkdir(path.dirname(absolute), { recursive: true });
        if (typeof content === 'string') await writeFile(absolute, content);
        else await symlink(content.link, absolute);
      }
      return base;
    },
    [Symbol.asyncDispose]: async () => {
      await copies.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Whether the real sandbox runs on this machine, and the sentence to put into a skipped test's name where it does not. */
export async function trySandbox(): Promise<{ available: boolean; note: string; walls: WallsKind | undefined }> {
  await using scratch = await makeScratch();
  const { available, reason, walls } = await scratch.sandbox.availability();
  return { available, walls, note: available ? 'in the sandbox' : `not tried, no sandbox here: ${reason}` };
}

/** For waiting until something has happened; only a failing test ever waits that long. */
export const PATIENTLY = { timeout: 25_000 };

/** Process ids on this machine whose command line holds the marker. Processes of a sandbox are visible from outside. */
export async function processesWith(marker: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(marker)) found.push(`${pid}: ${line.replaceAll('\0', ' ')}`);
  }
  return found;
}
