import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { ControlGroups } from '../../../backend/verify/sandbox/limits/control-group.ts';
import { defaultLimits } from '../../../backend/verify/sandbox/limits/limits.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { Sandbox, shellQuote, type SandboxedCommand, type SandboxOutcome } from '../../../backend/verify/sandbox/sandbox.ts';

/** Not in the temporary folder, which is hidden as a whole: there would be nothing to hold back. */
const CACHE = path.join(import.meta.dirname, '../../../node_modules/.cache');

/** A machine in small: what a command in the sandbox may want to get at. All of it is gone after the test. */
export interface Surroundings extends AsyncDisposable {
  readonly folder: string;
  /** The user's home folder, with a secret in it. */
  readonly home: string;
  /** The user's workspace, hidden from the command. */
  readonly workspace: string;
  /** Another folder of the user's, which may be read because its name was given. Beside it lies `project`, of which nothing is said. */
  readonly outside: string;
  readonly folders: RunFolders;
  readonly sandbox: Sandbox;
  /** Runs it in a copy of its own, with `HOME_OUTSIDE`, `WORKSPACE` and `OUTSIDE` set to the folders above. */
  run(command: string, options?: Partial<SandboxedCommand>): Promise<SandboxOutcome>;
}

export const SECRET = 'the-secret-of-this-user';

const FILES = {
  home: { '.ssh/id': SECRET, '.config/token': SECRET, '.bashrc': 'alias', '.profile': '', '.gitconfig': '[user]' },
  workspace: {
    '.env': SECRET,
    '.git/config': '[core]',
    '.git/hooks/pre-commit': 'exit 0',
    '.gitmodules': '',
    '.vscode/settings.json': '{}',
    '.idea/workspace.xml': '<a/>',
    '.mcp.json': '{}',
    'src/main.js': 'main',
  },
  project: { 'notes.txt': SECRET },
  outside: { file: 'untouched', 'folder/inner/file': 'untouched' },
};

export async function makeSurroundings({ useControlGroups = true } = {}): Promise<Surroundings> {
  await mkdir(CACHE, { recursive: true });
  const folder = await realpath(await mkdtemp(path.join(CACHE, 'escape-')));
  const at = (name: keyof typeof FILES): string => path.join(folder, name);
  for (const name of ['home', 'workspace', 'outside', 'project'] as const) {
    for (const [file, text] of Object.entries(FILES[name])) {
      await mkdir(path.dirname(path.join(at(name), file)), { recursive: true });
      await writeFile(path.join(at(name), file), text);
    }
  }
  await symlink('folder', path.join(at('outside'), 'link'));
  const folders = new RunFolders(path.join(folder, 'runs'), isProcessAlive);
  const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: at('home'), readableFolders: [at('outside')], folders, useControlGroups });
  return {
    folder,
    home: at('home'),
    workspace: at('workspace'),
    outside: at('outside'),
    folders,
    sandbox,
    run: async (command, options) => {
      const run = await folders.create();
      await mkdir(run.workspace);
      try {
        return await sandbox.run({
          command,
          cwd: run.workspace,
          temporary: run.temporary,
          hidden: [at('workspace')],
          environment: { HOME_OUTSIDE: at('home'), WORKSPACE: at('workspace'), OUTSIDE: at('outside') },
          timeoutMs: 60_000,
          signal: new AbortController().signal,
          sandboxed: true,
          ...options,
        });
      } finally {
        await run.remove();
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Every file below the folders: what it is, its rights, its time and its text. */
export async function contents(...folders: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const folder of folders) {
    for (const name of (await readdir(folder, { recursive: true })).sort()) {
      const file = path.join(folder, name);
      const found = await lstat(file);
      const inside = found.isFile() ? await readFile(file, 'utf8') : found.isSymbolicLink() ? await readlink(file) : '';
      lines.push(`${file} ${found.mode} ${found.nlink} ${found.mtimeMs} ${inside}`);
    }
  }
  return lines;
}

export const node = (script: string): string => `node -e ${shellQuote(script)}`;
export const python = (...lines: readonly string[]): string => `python3 -c ${shellQuote(lines.join('\n'))}`;

/** Whether the kernel lets us hold limits for all processes of a command together. */
export const hasControlGroups = ((): boolean => {
  const group = new ControlGroups().create(defaultLimits(1_000));
  void group?.remove();
  return group !== undefined;
})();

export const isRoot = process.getuid?.() === 0;

/** Where the program is. */
export const pathOf = (program: string): string | undefined =>
  (process.env.PATH ?? '').split(path.delimiter).map((folder) => path.join(folder, program)).find((file) => existsSync(file));

/** Whether the program can be started here. */
export function has(program: string): boolean {
  if (program !== 'python3' || !pathOf(program)) return pathOf(program) !== undefined;
  try {
    // A version manager's stand-in may have nothing to stand in for.
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A number of seconds that no other process on this machine sleeps for. */
export const uniqueSleep = (): string => `${90_000 + (process.pid % 10_000)}.${Math.random().toString().slice(2, 10)}`;
