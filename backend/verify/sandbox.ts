import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { getDefaultWritePaths, SandboxManager } from '@anthropic-ai/sandbox-runtime';
import { getApplySeccompBinaryPathAsync } from '@anthropic-ai/sandbox-runtime/dist/sandbox/generate-seccomp-filter.js';
import { runProcessGroup, type ProcessOutcome } from './process-group.ts';
import type { RunFolders } from './run-folder.ts';
import { readableToolchains, type ReadableHome } from './toolchains.ts';

export interface SandboxOptions {
  /** Where commands are looked for: the user's PATH. */
  readonly searchPath: string;
  /** Hidden from the command, but for the toolchains on `searchPath`. */
  readonly homeFolder: string;
  /** Hidden too: the backend's own storage, for one. */
  readonly hiddenFolders?: readonly string[];
  /** Where runs have their folders; a command sees its own alone. */
  readonly folders: RunFolders;
}

export interface SandboxAvailability {
  readonly available: boolean;
  /** What is missing and what to do about it. */
  readonly reason?: string;
}

export interface SandboxedCommand {
  /** A line for the shell. */
  readonly command: string;
  readonly cwd: string;
  /** Folders in which commands are looked for before the user's PATH. */
  readonly programFolders?: readonly string[];
  /** Home and temporary folder of the command. */
  readonly temporary: string;
  /** Further folders that the command may write. */
  readonly writable?: readonly string[];
  /** Folders to hide, such as the workspace that `cwd` is a copy of. */
  readonly hidden?: readonly string[];
  /** Folders to show although they lie in hidden ones. */
  readonly readable?: readonly string[];
  /** Variables beside PATH, HOME, LANG, TMPDIR and those of toolchains. Nothing of our own environment is passed on. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** False runs the command with the same limits and environment but without walls around it. Only where a person has agreed. */
  readonly sandboxed: boolean;
}

export interface SandboxOutcome extends ProcessOutcome {
  readonly sandboxed: boolean;
}

/** No sandbox can be had here. */
export class SandboxUnavailableError extends Error {
  override readonly name = 'SandboxUnavailableError';
}

const INSTALL_HINT = 'On Debian or Ubuntu: sudo apt-get install bubblewrap socat ripgrep';

/** What one process of the tests may use. Per process, not together: wall clock and process group hold the rest. */
const LIMITS = {
  /** Heap and other private memory. Not address space: runtimes reserve far more of that than they use. */
  dataBytes: 4 * 1024 ** 3,
  fileBytes: 1024 ** 3,
  /** Threads count. Holds inside the sandbox only, where it counts the sandbox alone; Linux exempts the real root. */
  processes: 2_048,
};

/**
 * Runs commands with no network, no writes outside the folders they are given, no sight of the home folder, and none of our
 * environment.
 *
 * Built on sandbox-runtime without its `initialize`: that starts proxies for allowed hosts, and helper processes that a crash of
 * the backend would leave behind. With no host allowed the command has a network of its own with nothing in it but its own
 * loopback.
 */
export class Sandbox {
  readonly #options: SandboxOptions;
  #availability: Promise<SandboxAvailability> | undefined;
  readonly #searchPath: string;
  readonly #prlimit: string | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
    // A relative entry would be looked up in the copy, where a patch could have put a program.
    this.#searchPath = options.searchPath.split(path.delimiter).filter(path.isAbsolute).join(path.delimiter);
    this.#prlimit = programOnPath('prlimit', this.#searchPath);
  }

  /** Tries the sandbox once for real: that a harmless command runs in it, and that what it must hold back is held back. */
  async availability(): Promise<SandboxAvailability> {
    this.#availability ??= this.#tryOut();
    const found = await this.#availability;
    // Somebody may install what is missing while we run.
    if (!found.available) this.#availability = undefined;
    return found;
  }

  /** Throws `SandboxUnavailableError`, an AbortError, or an error of the file system. */
  async run(command: SandboxedCommand): Promise<SandboxOutcome> {
    if (command.sandboxed) {
      const { available, reason } = await this.availability();
      if (!available) throw new SandboxUnavailableError(reason);
    }
    if (process.platform === 'win32') throw new SandboxUnavailableError('Conductor cannot run tests on Windows yet.');
    command.signal.throwIfAborted();
    return await this.#runUnchecked(command);
  }

  async #runUnchecked(command: SandboxedCommand): Promise<SandboxOutcome> {
    const { cwd, programFolders = [], temporary, timeoutMs, signal, sandboxed } = command;
    const toolchains = await readableToolchains(this.#searchPath, this.#options.homeFolder);
    const environment = {
      ...toolchains.environment,
      PATH: [...programFolders, this.#searchPath].join(path.delimiter),
      HOME: temporary,
      TMPDIR: temporary,
      LANG: 'C.UTF-8',
      ...command.environment,
    };
    const limited = this.#withLimits(command.command, sandboxed);
    if (!sandboxed) {
      return { ...(await runProcessGroup({ argv: ['/bin/sh', '-c', limited], cwd, environment, timeoutMs, signal })), sandboxed };
    }
    const wrapped = await SandboxManager.wrapWithSandbox(limited, undefined, await this.#policy(command, toolchains), signal);
    try {
      return {
        ...(await runProcessGroup({ argv: ['/bin/sh', '-c', `exec ${wrapped}`], cwd, environment, timeoutMs, signal })),
        sandboxed,
      };
    } finally {
      SandboxManager.cleanupAfterCommand();
    }
  }

  #withLimits(command: string, sandboxed: boolean): string {
    if (this.#prlimit === undefined) return command;
    const limits = [`--core=0`, `--data=${LIMITS.dataBytes}`, `--fsize=${LIMITS.fileBytes}`];
    // Outside the sandbox it would count everything the user runs.
    if (sandboxed) limits.push(`--nproc=${LIMITS.processes}`);
    return `exec ${this.#prlimit} ${limits.join(' ')} -- /bin/sh -c ${shellQuote(command)}`;
  }

  async #policy(
    { cwd, temporary, writable = [], hidden = [], readable = [] }: SandboxedCommand,
    toolchains: ReadableHome,
  ): Promise<WrapPolicy> {
    const { homeFolder, hiddenFolders = [], folders } = this.#options;
    const seccompHelper = await getApplySeccompBinaryPathAsync();
    const literal = (paths: readonly (string | null)[]): { path: string; literal: true }[] =>
      // Some containers have / as their home folder: hiding that would hide everything.
      paths
        .filter((entry) => entry !== null && entry !== '/' && existsSync(entry))
        .map((entry) => ({ path: String(entry), literal: true }));
    return {
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: {
        denyRead: literal([homeFolder, folders.root, '/run/user', ...hiddenFolders, ...hidden, ...toolchains.denied]),
        // The helper that blocks Unix sockets is run from inside, wherever we are installed.
        allowRead: literal([...toolchains.allowed, ...readable, seccompHelper]),
        allowWrite: literal([cwd, temporary, ...writable]),
        // The library lets every command write a few places of its own.
        denyWrite: literal(getDefaultWritePaths().filter((entry) => !entry.startsWith('/dev/'))),
      },
    };
  }

  async #tryOut(): Promise<SandboxAvailability> {
    if (process.platform !== 'linux' && process.platform !== 'darwin') {
      return { available: false, reason: `Conductor has no sandbox for ${process.platform} yet.` };
    }
    const { errors } = await SandboxManager.checkDependenciesAsync();
    if (errors.length > 0)
      return { available: false, reason: `The sandbox is missing something: ${errors.join('; ')}. ${INSTALL_HINT}` };
    const { folders } = this.#options;
    const folder = await folders.create();
    try {
      const outside = path.join(folder.report, 'written-from-inside');
      const outcome = await this.#runUnchecked({
        command: [
          'echo inside > "$TMPDIR/probe" && cat "$TMPDIR/probe"',
          `(echo outside > ${shellQuote(outside)}) 2>/dev/null`,
          'cat /proc/net/dev 2>/dev/null | grep -c :',
        ].join('; '),
        cwd: await realpath(folder.temporary),
        temporary: folder.temporary,
        timeoutMs: 20_000,
        signal: new AbortController().signal,
        sandboxed: true,
      });
      const [inside, interfaces] = outcome.stdout.trim().split('\n');
      if (inside !== 'inside') {
        const said = outcome.stderr.trim().split('\n').at(-1) ?? '';
        return { available: false, reason: `The sandbox does not start${said && ` (${said})`}. ${INSTALL_HINT}` };
      }
      if (existsSync(outside))
        return { available: false, reason: 'The sandbox does not hold: a command could write outside its folder.' };
      if (process.platform === 'linux' && interfaces !== '1')
        return { available: false, reason: 'The sandbox does not hold: a command could see the network.' };
      return { available: true };
    } catch (error) {
      return {
        available: false,
        reason: `The sandbox does not start (${error instanceof Error ? error.message : String(error)}). ${INSTALL_HINT}`,
      };
    } finally {
      await folder.remove();
    }
  }
}

type WrapPolicy = NonNullable<Parameters<typeof SandboxManager.wrapWithSandbox>[2]>;

function programOnPath(program: string, searchPath: string): string | undefined {
  return [...searchPath.split(path.delimiter), '/usr/bin', '/bin']
    .map((folder) => path.join(folder, program))
    .find((file) => existsSync(file));
}

/** One argument of a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
