import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Limits } from '../limits/limits.ts';
import { ResourceWatch } from '../limits/resource-watch.ts';
import { type ExceededLimit, type ProcessOptions, type ProcessOutcome, runProcessGroup } from '../process-group.ts';
import type { SandboxAvailability } from '../sandbox-availability.ts';
import { shellQuote } from '../shell-quote.ts';
import { RUN_SCRIPT, SCRIPT } from '../walls/script.ts';
import { ContainerEngine, ContainerEngineError, type EngineSearch } from './container-engine.ts';

export interface ContainedCommand {
  /** For the container's shell. */
  readonly script: string;
  readonly image: string;
  /** All absolute. A folder has the same path in the container as outside. */
  readonly cwd: string;
  readonly writable: readonly string[];
  readonly readable: readonly string[];
  readonly limits: Limits;
  readonly timeoutMs: number;
  /** Our descriptors that the client would inherit. */
  readonly emptied: readonly number[];
  readonly signal: AbortSignal;
}

/** A command that runs as root in a container with the files of an image alone, as on a machine of its own. */
export interface ImageCommand {
  /** For the container's shell. It begins in the root folder. */
  readonly script: string;
  readonly image: string;
  /** The contents of files that are put into `MAILBOX` before it runs, by name. */
  readonly given?: Readonly<Record<string, string>>;
  /**
   * Where its output goes: for each file or folder that it leaves in `MAILBOX`, by name, an absolute path that does not exist yet. Where it exceeded the
   * limit of the disk, nothing is taken.
   */
  readonly taken: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The folder in which a command of an image finds its input and leaves its output. */
export const MAILBOX = '/conductor';

/** The command did not leave what is taken: it is not there, or it is a link or a special file. The engine is not at fault. */
export class NotLeftError extends ContainerEngineError {}

/** The label with the id of the process that owns a container. */
const OWNER = 'conductor.owner';

/** A person may pull or remove images while the backend runs. */
const KEPT_MS = 30_000;

const UNWATCHED = { processes: Number.POSITIVE_INFINITY, memoryBytes: Number.POSITIVE_INFINITY, cpuTimeMs: Number.POSITIVE_INFINITY };

/**
 * Ends the container when we end: then its standard input closes. Its first process is the engine's init, which ends when the shell that it
 * started has ended.
 */
const ONLY_WHILE_WE_LIVE = 'exec 3<&0 </dev/null; { read -r word <&3; kill -KILL -1; } & exec 3<&-';

/**
 * Runs each command in its own container of Docker or Podman, with the programs of an image. The container has no network and no privileges. Of this
 * machine's files it has only the given folders. It can write only the given writable folders and a temporary folder in memory. The kernel
 * enforces the limits.
 */
export class Containers {
  readonly #search: EngineSearch;
  readonly #isProcessAlive: (pid: number) => boolean;
  readonly #known = new Map<string, { readonly found: Promise<SandboxAvailability>; readonly until: number }>();
  #engine: Promise<ContainerEngine> | undefined;
  #swept: Promise<void> | undefined;

  /** Of our environment, only the variables that say where the engine is reach its client. */
  constructor({ isProcessAlive, ...search }: EngineSearch & { readonly isProcessAlive: (pid: number) => boolean }) {
    this.#search = search;
    this.#isProcessAlive = isProcessAlive;
  }

  /** Whether an engine answers and has the image. Nothing is downloaded. */
  async availability(image: string): Promise<SandboxAvailability> {
    const known = this.#known.get(image);
    if (known && known.until > performance.now()) return await known.found;
    const found = this.#look(image);
    this.#known.set(image, { found, until: performance.now() + KEPT_MS });
    const answer = await found;
    if (!answer.available) this.#known.delete(image);
    return answer;
  }

  /** The id of an image. A name can be reassigned to another image, an id cannot. @throws ContainerEngineError if the engine does not have it */
  async idOf(image: string): Promise<string> {
    return await (await this.#found()).ask(['image', 'inspect', '--format', '{{.Id}}', image]);
  }

  /**
   * Runs the command. Resolves when it has ended and its container is removed. @throws ContainerEngineError if the engine cannot run it, the
   * signal's reason
   */
  async run(command: ContainedCommand): Promise<ProcessOutcome> {
    const { limits, writable, emptied } = command;
    return await this.#run(command, {
      words: (engine) => createWords(command, engine), emptied,
      // The engine limits the container's processes, which are not the client's. We limit what is written to our folders.
      watch: (exceed, _engine, _container, pid) => new ResourceWatch(pid, { limits: { ...limits, ...UNWATCHED }, writable, inMemory: [], group: undefined }, exceed),
    });
  }

  /**
   * Runs the command in a new container that has no network, and whose files are gone when it ends. Files are copied in and out, so the engine
   * may be on another machine. @throws NotLeftError, ContainerEngineError if the engine cannot run it, an error of the file system, the signal's reason
   */
  async runImage(command: ImageCommand): Promise<ProcessOutcome> {
    const { given = {}, taken, signal } = command;
    const outside = await mkdtemp(path.join(tmpdir(), 'conductor-image-'));
    try {
      const mailbox = path.join(outside, path.basename(MAILBOX));
      await mkdir(mailbox);
      for (const [name, text] of Object.entries(given)) await writeFile(path.join(mailbox, name), text);
      return await this.#run(command, {
        words: () => imageWords(command), emptied: [], watch: (exceed, engine, container) => watchDisk(engine, container, command.limits, exceed),
        before: async (engine, container) => void (await engine.ask(['cp', mailbox, `${container}:/`], { signal })),
        after: async (engine, container, { exceeded }) => {
          if (exceeded === 'disk') return;
          for (const [name, to] of Object.entries(taken)) await take(engine, container, { name, to, signal });
        },
      });
    } finally {
      await rm(outside, { recursive: true, force: true });
    }
  }

  async #run({ script, limits, timeoutMs, signal }: Pick<ContainedCommand, 'script' | 'limits' | 'timeoutMs' | 'signal'>, { words, emptied, watch, before, after }: {
    readonly words: (engine: ContainerEngine) => readonly string[];
    readonly emptied: readonly number[];
    readonly watch: (exceed: (limit: ExceededLimit) => void, engine: ContainerEngine, container: string, pid: number) => ReturnType<ProcessOptions['watch']>;
    readonly before?: (engine: ContainerEngine, container: string) => Promise<void>;
    readonly after?: (engine: ContainerEngine, container: string, ended: ProcessOutcome) => Promise<void>;
  }): Promise<ProcessOutcome> {
    const engine = await this.#found();
    await (this.#swept ??= this.#sweep(engine).catch(() => undefined));
    signal.throwIfAborted();
    const name = `conductor-${process.pid}-${randomBytes(6).toString('hex')}`;
    try {
      await engine.ask(['create', '--name', name, ...words(engine)], { signal, variables: { [SCRIPT]: `${ONLY_WHILE_WE_LIVE}\nunset ${SCRIPT}\n${script}` } });
      await before?.(engine, name);
      const outcome = await runProcessGroup({
        // The container's input stays open while we live: descriptor 4 is ours.
        argv: ['/bin/sh', '-c', `exec ${shellQuote(engine.program)} start --attach --interactive ${name} <&4 3<&- 4<&-`],
        cwd: '/',
        environment: engine.environment,
        input: new Uint8Array(),
        emptied,
        timeoutMs,
        outputBytes: limits.outputBytes,
        watch: (pid, exceed) => watch(exceed, engine, name, pid),
        signal,
      });
      const ended = { ...outcome, ...(await this.#ending(engine, name, outcome)) };
      await after?.(engine, name, ended);
      return ended;
    } finally {
      // The end of the client does not end the container.
      await engine.ask(['rm', '--force', '--volumes', name]).catch(() => undefined);
    }
  }

  /** How the container ended. The client's own exit code does not tell. @throws ContainerEngineError */
  async #ending(engine: ContainerEngine, name: string, { exceeded, stderr }: ProcessOutcome): Promise<{ readonly exitCode: number | null; readonly exceeded?: ExceededLimit }> {
    if (exceeded) return { exitCode: null, exceeded };
    const [status, exitCode, isOutOfMemory, ...error] = (await engine.ask([
      'inspect', '--format', '{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.State.Error}}', name,
    ])).split(' ');
    if (status !== 'exited') throw new ContainerEngineError(error.join(' ') || stderr.trim().slice(0, 500) || `The container was left "${status ?? ''}".`);
    return { exitCode: Number(exitCode), ...(isOutOfMemory === 'true' && { exceeded: 'memory' }) };
  }

  async #look(image: string): Promise<SandboxAvailability> {
    const wanted = `The tests should run in a container of the image "${image}"`;
    let engine: ContainerEngine;
    try {
      engine = await this.#found();
    } catch (error) {
      if (!(error instanceof ContainerEngineError)) throw error;
      return { available: false, reason: `${wanted}, and ${error.message} Start or install Docker or Podman, or choose no image.` };
    }
    try {
      await this.idOf(image);
      return { available: true };
    } catch (error) {
      if (!(error instanceof ContainerEngineError)) throw error;
      return { available: false, reason: `${wanted}, and ${engine.name} has no such image.`, remedy: `${engine.command} pull ${image}` };
    }
  }

  /** Looked for again after a failure: a person may start an engine while the backend runs. @throws ContainerEngineError */
  async #found(): Promise<ContainerEngine> {
    const search = (this.#engine ??= ContainerEngine.find(this.#search));
    try {
      return await search;
    } catch (error) {
      if (this.#engine === search) this.#engine = undefined;
      throw error;
    }
  }

  /** Removes the containers of processes that have ended. */
  async #sweep(engine: ContainerEngine): Promise<void> {
    const ids = (await engine.ask(['ps', '--all', '--quiet', '--filter', `label=${OWNER}`])).split('\n').filter(Boolean);
    if (ids.length === 0) return;
    const owners = (await engine.ask(['inspect', '--type', 'container', '--format', `{{index .Config.Labels "${OWNER}"}}`, ...ids])).split('\n');
    const left = ids.filter((_, index) => !this.#isProcessAlive(Number(owners[index])));
    if (left.length > 0) await engine.ask(['rm', '--force', '--volumes', ...left]);
  }
}

/** How often the size of a container's files is asked for, which the engine has to add up. */
const DISK_MS = 5_000;

/** Ends a container whose own files grow beyond its limit. It may exceed it by what it writes between two looks. */
function watchDisk(engine: ContainerEngine, container: string, { diskBytes }: Limits, exceed: (limit: ExceededLimit) => void): { stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    const written = Number(await engine.ask(['inspect', '--type', 'container', '--size', '--format', '{{.SizeRw}}', container]).catch(() => undefined));
    if (isOver) return;
    if (written > diskBytes) exceed('disk');
    else again();
  };
  const again = (): void => {
    timer = setTimeout(() => {
      look().catch(() => {});
    }, DISK_MS);
  };
  again();
  return {
    stop: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/**
 * Docker copies a link as a link, which would lead to files of this machine, and a pipe would be read for ever.
 * @throws NotLeftError, ContainerEngineError
 */
async function take(engine: ContainerEngine, container: string, { name, to, signal }: { readonly name: string; readonly to: string; readonly signal: AbortSignal }): Promise<void> {
  try {
    await engine.ask(['cp', `${container}:${MAILBOX}/${name}`, to], { signal });
  } catch (error) {
    // Where the engine still answers for the container, the copy failed because of what is in it.
    if (!(error instanceof ContainerEngineError) || signal.aborted) throw error;
    await engine.ask(['inspect', '--type', 'container', '--format', '{{.Id}}', container], { signal });
    throw new NotLeftError(`The container left no "${name}" that can be taken: ${error.message}`, { cause: error });
  }
  const found = await lstat(to);
  if (found.isFile() || found.isDirectory()) return;
  await rm(to);
  throw new NotLeftError(`The container left a link or a special file as "${name}", which is not taken.`);
}

function createWords({ image, cwd, writable, readable, limits }: ContainedCommand, { isPodman }: ContainerEngine): string[] {
  const user = process.getuid && process.getgid ? ['--user', `${process.getuid()}:${process.getgid()}`] : [];
  // Without root, Podman makes the user root in the container and gives our id to somebody else. And it makes more folders writable than asked.
  const podman = isPodman ? ['--read-only-tmpfs=false', ...(process.getuid?.() === 0 ? [] : ['--userns', 'keep-id'])] : [];
  const mounts = [
    ...readable.filter((folder) => existsSync(folder)).map((folder) => mount(folder, 'readonly')),
    ...writable.filter((folder) => existsSync(folder)).map((folder) => mount(folder)),
  ];
  return [
    ...sharedWords(limits), '--read-only', ...podman,
    ...['--tmpfs', '/tmp:rw,exec,nosuid,nodev', ...user, '--workdir', cwd, ...mounts.flatMap((words) => ['--mount', words])],
    ...runWords(image),
  ];
}

function imageWords({ image, limits }: ImageCommand): string[] {
  return [...sharedWords(limits), '--user', '0:0', '--workdir', '/', ...runWords(image)];
}

function sharedWords({ memoryBytes, processes }: Limits): string[] {
  return [
    ...['--label', `${OWNER}=${process.pid}`, '--pull', 'never', '--interactive', '--init', '--log-driver', 'none'],
    ...['--network', 'none', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--memory', String(memoryBytes), '--memory-swap', String(memoryBytes), '--pids-limit', String(processes)],
  ];
}

const runWords = (image: string): string[] => ['--env', SCRIPT, '--entrypoint', '/bin/sh', image, '-c', RUN_SCRIPT];

/** As comma-separated values. */
function mount(folder: string, ...more: readonly string[]): string {
  return ['type=bind', `source=${folder}`, `target=${folder}`, ...more].map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}
