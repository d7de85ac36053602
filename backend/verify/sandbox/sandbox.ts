import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Containers } from './container/containers.ts';
import { ContainerEngineError } from './container/container-engine.ts';
import { ControlGroups } from './limits/control-group.ts';
import { defaultLimits, limitLines, type Limits } from './limits/limits.ts';
import { ResourceWatch } from './limits/resource-watch.ts';
import { closedSettings, foldersBeyondSystem, READABLE_IN_VAR } from './beyond-system.ts';
import type { Reach } from './network/reach.ts';
import { whatWasHidden } from './what-was-hidden.ts';
import { runProcessGroup, type ProcessOutcome } from './process-group.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';
import type { RunFolders } from '../files/run-folder.ts';
import type { SandboxAvailability } from './sandbox-availability.ts';
import { shellQuote } from './shell-quote.ts';
import { GO_BUILD_CACHE, MEMORY, readableToolchains, type ReadableToolchains } from './toolchains.ts';
import { inheritedDescriptors } from './walls/inherited-descriptors.ts';
import { hasBubblewrap, thisMachine, whyThereIsNone, type Attempt } from './walls/missing.ts';
import { EMPTY_INPUT, ONLY_WHILE_WE_LIVE, RUN_SCRIPT, SCRIPT } from './walls/script.ts';
import { withReason } from './walls/namespaces/step-list.ts';
import { UNKNOWN_WALLS, wallsFrom, WALLS_KINDS, type WalledLine, type WallsAround, type WallsKind } from './walls/walled-line.ts';
import { Walls } from './walls/walls.ts';
import { NotForWindowsError } from './windows/cmd-line.ts';
import { NO_IMAGES } from './windows/isolation.ts';
import { JobNotStartedError } from './windows/run-in-job.ts';
import { WindowsCommands } from './windows/windows-commands.ts';

export { shellQuote };

export interface SandboxOptions {
  /** The user's PATH. Commands are searched there. */
  readonly searchPath: string;
  /** Hidden from the command, except the toolchains on `searchPath`. */
  readonly homeFolder: string;
  /** Also hidden, such as the backend's own storage. */
  readonly hiddenFolders?: readonly string[];
  /** Folders that a person allows to be read, wherever they are. */
  readonly readableFolders?: readonly string[];
  /** The folders of all runs. A command sees only its own. */
  readonly folders: RunFolders;
  /** For commands with an image. Without it, these cannot run. */
  readonly containers?: Containers;
  /** False enforces the limits only by polling, even if the kernel could enforce them. */
  readonly useControlGroups?: boolean;
}

export interface SandboxedCommand {
  /** A shell command line. */
  readonly command: string;
  readonly cwd: string;
  /** Where the command sees `cwd`: a place in the folder of all runs where nothing is outside. For the sandbox of Linux, and not for a container. */
  readonly shown?: string;
  /** Folders that are searched for commands before the user's PATH. */
  readonly programFolders?: readonly string[];
  /** The command's HOME and TMPDIR. */
  readonly temporary: string;
  /** Other folders that the command may write. */
  readonly writable?: readonly string[];
  /** Folders to hide, such as the workspace that `cwd` is a copy of. */
  readonly hidden?: readonly string[];
  /** Folders inside hidden ones that stay readable. */
  readonly readable?: readonly string[];
  /** Whether what was compiled of the base is among them. Then the user's caches of compiled code, which hold tests as well, are hidden. */
  readonly hasLayer?: boolean;
  /** Variables in addition to PATH, HOME, LANG, TMPDIR and those of toolchains. None of our own environment is passed on. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Overrides of `defaultLimits`. */
  readonly limits?: Partial<Limits>;
  readonly signal: AbortSignal;
  /** Runs the command in a container of this image, with the image's programs. */
  readonly image?: string | undefined;
  /** Hosts that the command may reach, as `allowedHost` reads them; without them there is no network. Linux only, and not in a container. */
  readonly reach?: readonly string[] | undefined;
  /** For a command that is spoken with: called with its standard input and output. The output is then not in the outcome. */
  readonly talk?: ((input: Writable, output: Readable) => void) | undefined;
  /** False runs the command on this machine without a sandbox, even with an image. Limits and environment are the same. Needs a person's consent. */
  readonly sandboxed: boolean;
}

export interface SandboxOutcome extends ProcessOutcome {
  /** A file or folder that the command missed, and that is there outside of the sandbox. Absent if that cannot be told. */
  readonly unreadable?: string;
  readonly sandboxed: boolean;
}

/** There is no sandbox on this machine. The message says why. */
export class SandboxUnavailableError extends Error {
  override readonly name = 'SandboxUnavailableError';
}

/**
 * Folders with sockets, container secrets and pipes of other programs. Pipes can be written even on a read-only mount, so the folders are
 * hidden. The command sees writable in-memory file systems instead.
 */
const HIDDEN = process.platform === 'linux' ? ['/run', '/tmp', '/var/tmp'] : [];

/** Settings whose permissions hide them from other users, but not from root. */
const HIDDEN_FROM_ROOT = ['/etc/ssh', '/etc/ssl/private'];

/** Programs and drivers on NixOS and similar systems. */
const SYSTEM_FOLDERS = ['/run/current-system', '/run/wrappers', '/run/opengl-driver'];

const hiddenAlways = (): readonly string[] =>
  process.platform === 'linux' ? [...foldersBeyondSystem(), ...HIDDEN, ...(process.getuid?.() === 0 ? [...HIDDEN_FROM_ROOT, ...closedSettings()] : [])] : HIDDEN;

const NO_CONTAINERS = 'Containers cannot be used here.';

/** Toolchains are searched again after this time: a person may install one while the backend runs. */
const TOOLCHAINS_KEPT_MS = 30_000;

/**
 * Runs commands without network, without writes outside their folders, without access to the home folder, without our environment, and
 * within limits. docs/sandbox.md says how each of these is enforced.
 */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #walls: Walls;
  readonly #windows: WindowsCommands;
  readonly #groups: ControlGroups | undefined;
  readonly #searchPath: string;
  readonly #inherited = inheritedDescriptors();
  /** Read together with the toolchains: a disk may be mounted meanwhile. */
  #hiddenAlways = hiddenAlways();
  #availability: Promise<SandboxAvailability> | undefined;
  /** The walls that work here. */
  #kind: WallsKind = WALLS_KINDS[0];
  #toolchains: { readonly found: Promise<ReadableToolchains>; readonly until: number } | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
    // A relative entry would refer to the copy, where a patch could have put a program.
    this.#searchPath = options.searchPath.split(path.delimiter).filter(path.isAbsolute).join(path.delimiter);
    this.#walls = new Walls(options.folders.root);
    this.#windows = new WindowsCommands(options.folders, process.env);
    this.#groups = options.useControlGroups === false ? undefined : new ControlGroups();
  }

  /**
   * Tries the sandbox once: whether a harmless command runs in it, and whether writes outside and the network are blocked. With an
   * `image`, whether a container of it can run.
   */
  async availability(image?: string): Promise<SandboxAvailability> {
    if (image !== undefined && process.platform === 'win32') return NO_IMAGES;
    if (image !== undefined) return (await this.#options.containers?.availability(image)) ?? { available: false, reason: NO_CONTAINERS };
    const attempt = (this.#availability ??= this.#findWalls());
    // A person may install what is missing, or free a full disk, so only success is kept.
    const forget = (): void => {
      if (this.#availability === attempt) this.#availability = undefined;
    };
    attempt.then(({ available }) => !available && forget(), forget);
    return await attempt;
  }

  /** The id of an image. A name can be reassigned to another image, an id cannot. @throws SandboxUnavailableError */
  async pinnedImage(image: string): Promise<string> {
    const { available, reason, remedy } = await this.availability(image);
    const id = available ? await this.#options.containers?.idOf(image).catch(() => undefined) : undefined;
    if (id === undefined) throw new SandboxUnavailableError(remedy === undefined ? reason : `${reason} This brings it: ${remedy}`);
    return id;
  }

  /** Throws `SandboxUnavailableError`, `HostError`, an AbortError, or an error of the file system. */
  async run(command: SandboxedCommand): Promise<SandboxOutcome> {
    if (command.sandboxed) {
      const { available, reason } = await unlessAborted(this.availability(command.image), command.signal);
      if (!available) throw new SandboxUnavailableError(reason);
    }
    if (command.reach && (process.platform !== 'linux' || !command.sandboxed || command.image !== undefined)) {
      throw new SandboxUnavailableError('Programs that need a network run in the sandbox of Linux only.');
    }
    command.signal.throwIfAborted();
    if (process.platform === 'win32') return await this.#runOnWindows(command);
    return command.sandboxed && command.image !== undefined ? await this.#runContained(command, command.image) : await this.#runUnchecked(command);
  }

  async #runContained(command: SandboxedCommand, image: string): Promise<SandboxOutcome> {
    const { cwd, temporary, timeoutMs, signal, writable = [], readable = [] } = command;
    const limits = { ...defaultLimits(timeoutMs), ...command.limits };
    try {
      const outcome = await this.#options.containers?.run({
        script: [...exported(variablesOf(command), command.programFolders), limitLines(limits, false), command.command].join('\n'),
        image, cwd, limits, timeoutMs, signal, readable,
        writable: [cwd, temporary, ...writable],
        emptied: this.#inherited,
      });
      if (!outcome) throw new SandboxUnavailableError(NO_CONTAINERS);
      return { ...outcome, sandboxed: true };
    } catch (error) {
      if (!(error instanceof ContainerEngineError)) throw error;
      throw new SandboxUnavailableError(`The tests did not run in a container: ${error.message}`, { cause: error });
    }
  }

  async #runOnWindows(command: SandboxedCommand): Promise<SandboxOutcome> {
    const { cwd, temporary, timeoutMs, signal, talk, programFolders = [] } = command;
    const { searchPath, environment } = await this.#readableToolchains();
    const { [GO_BUILD_CACHE]: _, ...toolchainVariables } = environment;
    const variables = { ...toolchainVariables, LANG: 'C.UTF-8', ...command.environment };
    try {
      const outcome = await this.#windows.run({
        command: command.command, cwd, temporary, variables, timeoutMs, signal, talk,
        searchPath: [...programFolders, ...searchPath.split(path.delimiter)],
        limits: { ...defaultLimits(timeoutMs), ...command.limits },
      });
      return { ...outcome, sandboxed: false };
    } catch (error) {
      if (!(error instanceof NotForWindowsError || error instanceof JobNotStartedError)) throw error;
      throw new SandboxUnavailableError(error.message, { cause: error });
    }
  }

  async #runUnchecked(command: SandboxedCommand, kind = this.#kind): Promise<SandboxOutcome> {
    const { cwd, shown, temporary, timeoutMs, signal, sandboxed, talk } = command;
    const limits = { ...defaultLimits(timeoutMs), ...command.limits };
    const reach = command.reach && (await reachOf(command.reach));
    const toolchains = await this.#readableToolchains();
    const writable = [cwd, temporary, ...(command.writable ?? [])];
    const hidden = this.#hidden(command, toolchains);
    const readable = [...SYSTEM_FOLDERS, ...READABLE_IN_VAR, ...(this.#options.readableFolders ?? []), ...toolchains.allowed, ...buildCacheOf(command, toolchains), ...(command.readable ?? []), ...(reach ? [reach.program] : [])];
    const around = shown === undefined ? { hidden, readable, writable } : {
      hidden, readable, writable: writable.filter((folder) => folder !== cwd), shown: { folder: cwd, at: shown },
    };
    const walled = sandboxed ? await this.#walledBy(around, kind, signal) : WITHOUT_WALLS;
    const group = this.#groups?.create(limits);
    try {
      const watched = { limits, writable, inMemory: sandboxed ? ['/dev', ...hidden] : [], group };
      const outcome = await runProcessGroup({
        argv: ['/bin/sh', '-c', `${group?.joinLine ?? ':'}; exec ${walled.line}`],
        cwd,
        // This shell runs outside the sandbox, so programs and variables must not come from where tests can write.
        environment: { PATH: this.#searchPath, [SCRIPT]: [walled.input ? ONLY_WHILE_WE_LIVE : '', talk ? '' : EMPTY_INPUT, scriptOf(command, toolchains, limits, reach)].join('\n') },
        ...(walled.input && { input: walled.input }),
        talk,
        onListening: reach?.accept,
        emptied: this.#inherited,
        timeoutMs,
        outputBytes: limits.outputBytes,
        watch: (pid, exceed) => new ResourceWatch(pid, watched, exceed),
        signal,
      });
      const exceeded = outcome.exceeded ?? group?.refused();
      const unreadable = sandboxed && outcome.exitCode !== 0 ? whatWasHidden(outcome, { hidden, open: [...readable, ...writable] }) : undefined;
      return { ...outcome, ...(exceeded && { exceeded }), ...(unreadable !== undefined && { unreadable }), sandboxed };
    } finally {
      reach?.close();
      walled.release();
      await group?.remove();
    }
  }

  /** @throws SandboxUnavailableError, the signal's reason */
  async #walledBy(walls: WallsAround, kind: WallsKind, signal: AbortSignal): Promise<WalledLine> {
    try {
      return await this.#walls.around(walls, kind, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new SandboxUnavailableError(`The sandbox could not be set up: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }

  #hidden({ hidden = [] }: SandboxedCommand, { denied }: ReadableToolchains): string[] {
    const { homeFolder, hiddenFolders = [], folders } = this.#options;
    return [...this.#hiddenAlways, homeFolder, folders.root, ...hiddenFolders, ...hidden, ...denied];
  }

  async #readableToolchains(): Promise<ReadableToolchains> {
    if (!this.#toolchains || this.#toolchains.until < performance.now()) {
      this.#hiddenAlways = hiddenAlways();
      const found = readableToolchains(this.#searchPath, this.#options.homeFolder, this.#hiddenAlways);
      this.#toolchains = { found, until: performance.now() + TOOLCHAINS_KEPT_MS };
    }
    return await this.#toolchains.found;
  }

  async #findWalls(): Promise<SandboxAvailability> {
    if (process.platform === 'win32') return await this.#windows.availability();
    if (process.platform !== 'linux' && process.platform !== 'darwin')
      return { available: false, reason: `Conductor has no sandbox for ${process.platform} yet.` };
    const machine = thisMachine(this.#searchPath);
    const attempts: Attempt[] = [];
    const kinds = process.platform === 'linux' ? wallsFrom(process.env, process.getuid?.() === 0) : [undefined];
    if (kinds === undefined) return { available: false, reason: UNKNOWN_WALLS };
    for (const kind of kinds) {
      const attempt = kind === 'bubblewrap' && !hasBubblewrap(machine) ? { kind } : await this.#tryOut(kind);
      if (attempt === undefined) {
        this.#kind = kind ?? this.#kind;
        return { available: true, ...(kind && { walls: kind }) };
      }
      attempts.push(attempt);
    }
    return { available: false, ...whyThereIsNone(machine, attempts) };
  }

  /** What went wrong with these walls. Undefined if nothing did. @throws an error of the file system */
  async #tryOut(kind: WallsKind | undefined): Promise<Attempt | undefined> {
    const { folders } = this.#options;
    const folder = await folders.create();
    try {
      const outside = path.join(folder.report, 'written-from-inside');
      const { stdout, stderr, exitCode } = await this.#runUnchecked({
        // By the shell alone: what else is on PATH is not known.
        command: [
          'echo inside > "$TMPDIR/probe" && read -r line < "$TMPDIR/probe" && echo "$line"',
          `(echo outside > ${shellQuote(outside)}) 2>/dev/null`,
          'interfaces=0; while read -r line; do case "$line" in *:*) interfaces=$((interfaces + 1));; esac; done 2>/dev/null < /proc/net/dev; echo "$interfaces"',
        ].join('; '),
        cwd: await realpath(folder.temporary),
        temporary: folder.temporary,
        timeoutMs: 20_000,
        signal: new AbortController().signal,
        sandboxed: true,
      }, kind);
      const [inside, interfaces] = stdout.trim().split('\n');
      if (inside !== 'inside') return { kind, said: kind === 'namespaces' ? withReason(stderr, exitCode) : stderr };
      if (existsSync(outside)) return { kind, leak: 'a command could write outside its folder' };
      if (process.platform === 'linux' && interfaces !== '1') return { kind, leak: 'a command could see the network' };
      return undefined;
    } catch (error) {
      return { kind, unplanned: error instanceof Error ? error.message : String(error) };
    } finally {
      await folder.remove();
    }
  }
}

/** Go's cache of the user. Tests do not need it, so only a command that names it gets it. */
function buildCacheOf({ command, hasLayer = false }: SandboxedCommand, { environment: { [GO_BUILD_CACHE]: folder } }: ReadableToolchains): readonly string[] {
  return folder !== undefined && !hasLayer && command.includes(GO_BUILD_CACHE) ? [folder] : [];
}

/** The script that runs inside the sandbox. */
function scriptOf(command: SandboxedCommand, toolchains: ReadableToolchains, limits: Limits, reach: Reach | undefined): string {
  const { [GO_BUILD_CACHE]: _, ...environment } = toolchains.environment;
  const [goBuildCache] = buildCacheOf(command, toolchains);
  const variables = {
    ...environment,
    ...(goBuildCache !== undefined && { [GO_BUILD_CACHE]: goBuildCache }),
    PATH: toolchains.searchPath,
    ...variablesOf(command),
    ...reach?.environment,
  };
  const lines = [...exported(variables, command.programFolders), limitLines(limits, command.sandboxed), command.command];
  return [`unset ${SCRIPT}`, ...(reach ? [reach.script] : []), ...lines].join('\n');
}

/** The environment of every command, in the sandbox and in containers. */
function variablesOf({ command, temporary, environment, sandboxed, image }: SandboxedCommand): Record<string, string> {
  // bubblewrap gives each command a /dev of its own. That of a container is small.
  const memory = sandboxed && image === undefined && process.platform === 'linux' ? '/dev/shm' : temporary;
  return { HOME: temporary, TMPDIR: temporary, LANG: 'C.UTF-8', ...(command.includes(MEMORY) && { [MEMORY]: memory }), ...environment };
}

function exported(variables: Readonly<Record<string, string>>, programFolders: readonly string[] = []): string[] {
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  return programFolders.length === 0 ? lines : [...lines, `export PATH=${shellQuote(`${programFolders.join(path.delimiter)}${path.delimiter}`)}"$PATH"`];
}

const WITHOUT_WALLS: WalledLine = { line: `/bin/sh -c ${shellQuote(RUN_SCRIPT)}`, release: () => undefined };

/** Loaded only for a command that may reach anything: its proxy is a tenth of the backend's code. @throws HostError */
async function reachOf(hosts: readonly string[]): Promise<Reach> {
  const { Reach: Opened } = await import('./network/reach.ts');
  return new Opened(hosts);
}
