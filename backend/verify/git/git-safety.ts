import { execFile } from 'node:child_process';

/*
 * Git is asked about workspaces that nobody trusts, and asking must not run what they name. A repository's configuration can
 * name programs: a file system monitor, hooks, filters, and for a partial clone the one that fetches an object which is referred
 * to and not there. Filters run where Git compares or writes files of a working tree, so it is never asked to do that.
 */
export const RUN_NOTHING = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
/** The second is known to Git 2.44 and later; the first leaves every version no way to fetch by. */
export const FETCH_NOTHING = { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' };

/** Set while Git runs a hook: they would have it look at that repository, whatever folder it is asked about. */
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

/** Git lists the largest repositories in seconds; one whose files are pipes keeps it waiting for ever. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Git is missing, or could not do what it was asked; the message says what to do. */
export class GitError extends Error {
  override readonly name = 'GitError';
  /** What Git said, in English. */
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

/** What every call begins with. */
export const gitArguments = (folder: string, args: readonly string[]): string[] => [...RUN_NOTHING, '-C', folder, ...args];

/** Runs Git in `folder` (absolute) and returns what it prints. @throws GitError, or the signal's reason */
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
    // Git that ends early closes its end; how it ended says why.
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
