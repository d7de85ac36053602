import { execFile } from 'node:child_process';

/*
 * Workspaces are not trusted, so Git commands must not run programs that a workspace names. A repository's configuration can name a file
 * system monitor, hooks, filters, and, for a partial clone, a program that fetches missing objects. Filters run when Git compares or writes
 * files of a working tree, so no command here does that.
 */
export const RUN_NOTHING = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
/** The first disables every protocol for fetching. The second is known to Git 2.44 and later. */
export const FETCH_NOTHING = { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' };

/** Git sets these variables while it runs a hook. They would point Git to that repository instead of the given folder. */
const OF_ANOTHER_REPOSITORY = new Set([
  ...['GIT_DIR', 'GIT_COMMON_DIR', 'GIT_WORK_TREE', 'GIT_IMPLICIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY'],
  ...[
    'GIT_ALTERNATE_OBJECT_DIRECTORIES',
    'GIT_NAMESPACE',
    'GIT_PREFIX',
    'GIT_GRAFT_FILE',
    'GIT_SHALLOW_FILE',
    'GIT_REPLACE_REF_BASE',
  ],
]);

/** Git lists the largest repositories in seconds. With pipes in place of its files it would wait forever. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Git is missing or failed. The message says what to do. */
export class GitError extends Error {
  override readonly name = 'GitError';
  /** Git's own message, in English. */
  readonly said: string;

  constructor(message: string, said = '') {
    super(message);
    this.said = said;
  }
}

export function gitEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !OF_ANOTHER_REPOSITORY.has(name));
  return { ...Object.fromEntries(own), ...FETCH_NOTHING, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
}

/** The first arguments of every call. */
export const gitArguments = (folder: string, args: readonly string[]): string[] => [...RUN_NOTHING, '-C', folder, ...args];

/** Runs Git in `folder` (absolute) and returns its output. @throws GitError, or the signal's reason */
export async function runGit(
  folder: string,
  args: readonly string[],
  { signal, input }: { readonly signal: AbortSignal; readonly input?: string | Buffer },
): Promise<Buffer> {
  signal.throwIfAborted();
  return await new Promise<Buffer>((resolve, reject) => {
    const options = {
      encoding: 'buffer',
      env: gitEnvironment(),
      maxBuffer: MAX_OUTPUT_BYTES,
      timeout: TIMEOUT_MS,
      signal,
    } as const;
    const child = execFile('git', gitArguments(folder, args), options, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else reject(signal.aborted ? (signal.reason as Error) : gitError(error, folder, stderr.toString()));
    });
    // If Git ends early, its pipe is closed. Its exit code says why.
    child.stdin?.on('error', () => {}).end(input);
  });
}

export function gitError(error: Error, folder: string, said: string): GitError {
  const { code, killed } = error as NodeJS.ErrnoException & { readonly killed?: boolean };
  if (code === 'ENOENT') return new GitError('Git is not installed, or not on the PATH.');
  if (killed) return new GitError(`Git did not answer in ${folder} within ${TIMEOUT_MS / 1_000} s.`);
  const lines = said.trim().split('\n').slice(0, 5).join(' ').slice(0, 500);
  return new GitError(`Git cannot read ${folder}: ${lines || (code ?? error.message)}`, said);
}
