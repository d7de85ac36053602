import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Limits } from '../limits/limits.ts';
import { ResourceWatch } from '../limits/resource-watch.ts';
import { type ExceededLimit, type ProcessOutcome, runProcessGroup } from '../process-group.ts';
import type { SandboxAvailability } from '../sandbox-availability.ts';
import { shellQuote } from '../shell-quote.ts';
import { RUN_SCRIPT, SCRIPT } from '../walls/script.ts';
import { Docker, DockerError } from './docker.ts';

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

/** The label with the id of the process that owns a container. */
const OWNER = 'conductor.owner';

/** A person may pull or remove images while the backend runs. */
const KEPT_MS = 30_000;

const UNWATCHED = { processes: Number.POSITIVE_INFINITY, memoryBytes: Number.POSITIVE_INFINITY, cpuTimeMs: Number.POSITIVE_INFINITY };

/**
 * Ends the container when we end: then its standard input closes. Its first process is Docker's init, which ends when the shell that it
 * started has ended.
 */
const ONLY_WHILE_WE_LIVE = 'exec 3<&0 </dev/null; { read -r word <&3; kill -KILL -1; } & exec 3<&-';

/**
 * Runs each command in its own Docker container, with the programs of an image. The container has no network and no privileges. Of this
 * machine's files it has only the given folders. It can write only the given writable folders and a temporary folder in memory. The kernel
 * enforces the limits.
 */
export class Containers {
  readonly #docker: Docker;
  readonly #isProcessAlive: (pid: number) => boolean;
  readonly #known = new Map<string, { readonly found: Promise<SandboxAvailability>; readonly until: number }>();
  #swept: Promise<void> | undefined;

  /** `searchPath`: where to find Docker's client. `environment`: ours. Only the variables that say where Docker is reach the client. */
  constructor({ searchPath, environment, isProcessAlive }: {
    readonly searchPath: string; readonly environment: NodeJS.ProcessEnv; readonly isProcessAlive: (pid: number) => boolean;
  }) {
    this.#docker = new Docker({ searchPath, environment });
    this.#isProcessAlive = isProcessAlive;
  }

  /** Whether Docker answers and has the image. Nothing is downloaded. */
  async availability(image: string): Promise<SandboxAvailability> {
    const known = this.#known.get(image);
    if (known && known.until > performance.now()) return await known.found;
    const found = this.#look(image);
    this.#known.set(image, { found, until: performance.now() + KEPT_MS });
    const answer = await found;
    if (!answer.available) this.#known.delete(image);
    return answer;
  }

  /** The id of an image. A name can be reassigned to another image, an id cannot. @throws DockerError if Docker does not have it */
  async idOf(image: string): Promise<string> {
    return await this.#docker.ask(['image', 'inspect', '--format', '{{.Id}}', image]);
  }

  /**
   * Runs the command. Resolves when it has ended and its container is removed. @throws DockerError if Docker cannot run it, the signal's
   * reason
   */
  async run(command: ContainedCommand): Promise<ProcessOutcome> {
    const { limits, timeoutMs, signal, writable, emptied } = command;
    await (this.#swept ??= this.#sweep().catch(() => undefined));
    signal.throwIfAborted();
    const name = `conductor-${process.pid}-${randomBytes(6).toString('hex')}`;
    try {
      await this.#docker.ask(['create', '--name', name, ...createWords(command)], {
        signal, variables: { [SCRIPT]: `${ONLY_WHILE_WE_LIVE}\nunset ${SCRIPT}\n${command.script}` },
      });
      const outcome = await runProcessGroup({
        // The container's input stays open while we live: descriptor 4 is ours.
        argv: ['/bin/sh', '-c', `exec ${shellQuote(this.#docker.program)} start --attach --interactive ${name} <&4 3<&- 4<&-`],
        cwd: '/',
        environment: this.#docker.environment,
        input: new Uint8Array(),
        emptied,
        timeoutMs,
        outputBytes: limits.outputBytes,
        // Docker limits the container's processes, which are not the client's. We limit what is written to our folders.
        watch: (pid, exceed) => new ResourceWatch(pid, { limits: { ...limits, ...UNWATCHED }, writable, inMemory: [], group: undefined }, exceed),
        signal,
      });
      return { ...outcome, ...(await this.#ending(name, outcome)) };
    } finally {
      // The end of the client does not end the container.
      await this.#docker.ask(['rm', '--force', '--volumes', name]).catch(() => undefined);
    }
  }

  /** How the container ended. The client's own exit code does not tell. @throws DockerError */
  async #ending(name: string, { exceeded, stderr }: ProcessOutcome): Promise<{ readonly exitCode: number | null; readonly exceeded?: ExceededLimit }> {
    if (exceeded) return { exitCode: null, exceeded };
    const [status, exitCode, isOutOfMemory, ...error] = (await this.#docker.ask([
      'inspect', '--format', '{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.State.Error}}', name,
    ])).split(' ');
    if (status !== 'exited') throw new DockerError(error.join(' ') || stderr.trim().slice(0, 500) || `The container was left "${status ?? ''}".`);
    return { exitCode: Number(exitCode), ...(isOutOfMemory === 'true' && { exceeded: 'memory' }) };
  }

  async #look(image: string): Promise<SandboxAvailability> {
    const wanted = `The tests should run in a container of the image "${image}"`;
    try {
      await this.#docker.ask(['version', '--format', '{{.Server.Version}}']);
    } catch (error) {
      if (!(error instanceof DockerError)) throw error;
      return { available: false, reason: `${wanted}, and Docker cannot be used: ${error.message} Start or install it, or choose no image.` };
    }
    try {
      await this.idOf(image);
      return { available: true };
    } catch (error) {
      if (!(error instanceof DockerError)) throw error;
      return { available: false, reason: `${wanted}, and Docker has no such image.`, remedy: `docker pull ${image}` };
    }
  }

  /** Removes the containers of processes that have ended. */
  async #sweep(): Promise<void> {
    const listed = await this.#docker.ask(['ps', '--all', '--filter', `label=${OWNER}`, '--format', `{{.ID}} {{.Label "${OWNER}"}}`]);
    const rows = listed.split('\n').filter(Boolean).map((line) => line.split(' ') as [string, string]);
    const left = rows.filter(([, owner]) => !this.#isProcessAlive(Number(owner))).map(([id]) => id);
    if (left.length > 0) await this.#docker.ask(['rm', '--force', '--volumes', ...left]);
  }
}

function createWords({ image, cwd, writable, readable, limits }: ContainedCommand): string[] {
  const user = process.getuid && process.getgid ? ['--user', `${process.getuid()}:${process.getgid()}`] : [];
  const mounts = [
    ...readable.filter((folder) => existsSync(folder)).map((folder) => mount(folder, 'readonly')),
    ...writable.filter((folder) => existsSync(folder)).map((folder) => mount(folder)),
  ];
  return [
    ...['--label', `${OWNER}=${process.pid}`, '--pull', 'never', '--interactive', '--init', '--log-driver', 'none'],
    ...['--network', 'none', '--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--tmpfs', '/tmp:rw,exec,nosuid,nodev', ...user, '--workdir', cwd, ...mounts.flatMap((words) => ['--mount', words])],
    ...['--memory', String(limits.memoryBytes), '--memory-swap', String(limits.memoryBytes), '--pids-limit', String(limits.processes)],
    ...['--env', SCRIPT, '--entrypoint', '/bin/sh', image, '-c', RUN_SCRIPT],
  ];
}

/** As comma-separated values, which is Docker's format. */
function mount(folder: string, ...more: readonly string[]): string {
  return ['type=bind', `source=${folder}`, `target=${folder}`, ...more].map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}
