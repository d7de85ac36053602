import { execFile } from 'node:child_process';
import path from 'node:path';
import { programIn } from '../../../common/program-in.ts';

/** The engine is missing, does not answer, or refused. The message says which, with the engine's own text if there is one. */
export class ContainerEngineError extends Error {
  override readonly name = 'ContainerEngineError';
}

/** Programs with Docker's command line, in the order in which they are tried. */
const PROGRAMS = ['docker', 'podman'] as const;
type Program = (typeof PROGRAMS)[number];
const NAMES: Readonly<Record<Program, string>> = { docker: 'Docker', podman: 'Podman' };

/** The variables that say where the engine is and who may use it. No others are passed on. */
const VARIABLES = /^(?:DOCKER_\w+|CONTAINER_HOST|HOME|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS|SSH_AUTH_SOCK)$/;

/** For one command of the client. On a busy machine, starting a container takes seconds. */
const PATIENCE_MS = 60_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export interface EngineSearch {
  /** Where to find the client. */
  readonly searchPath: string;
  /** Ours. */
  readonly environment: NodeJS.ProcessEnv;
}

/** Docker's command-line client, or Podman's. */
export class ContainerEngine {
  /** Absolute. */
  readonly program: string;
  readonly command: Program;
  /** Whether it is Podman, also where that goes by Docker's name. */
  readonly isPodman: boolean;
  /** The environment of the client. Its PATH has only absolute folders. */
  readonly environment: Readonly<Record<string, string>>;

  private constructor(program: string, command: Program, isPodman: boolean, environment: Readonly<Record<string, string>>) {
    this.program = program;
    this.command = command;
    this.isPodman = isPodman;
    this.environment = environment;
  }

  get name(): string {
    return NAMES[this.isPodman ? 'podman' : 'docker'];
  }

  /** The first engine that answers. @throws ContainerEngineError of the first that is there */
  static async find({ searchPath, environment }: EngineSearch): Promise<ContainerEngine> {
    const passed = Object.entries(environment).filter((entry): entry is [string, string] => VARIABLES.test(entry[0]) && entry[1] !== undefined);
    const env = { ...Object.fromEntries(passed), PATH: searchPath.split(path.delimiter).filter(path.isAbsolute).join(path.delimiter) };
    let first: ContainerEngineError | undefined;
    for (const command of PROGRAMS) {
      const program = await programIn(command, searchPath);
      if (program === undefined) continue;
      try {
        const isPodman = /podman/i.test(await new ContainerEngine(program, command, false, env).ask(['--version']));
        const engine = new ContainerEngine(program, command, isPodman, env);
        await engine.ask(['version', '--format', '{{.Server.Version}}']);
        return engine;
      } catch (error) {
        if (!(error instanceof ContainerEngineError)) throw error;
        first ??= new ContainerEngineError(`${NAMES[command]} cannot be used: ${error.message}`, { cause: error });
      }
    }
    throw first ?? new ContainerEngineError('there is no Docker and no Podman on this machine.');
  }

  /** The output of a client command. @throws ContainerEngineError, the signal's reason */
  async ask(words: readonly string[], { signal, variables = {} }: {
    readonly signal?: AbortSignal; readonly variables?: Readonly<Record<string, string>>;
  } = {}): Promise<string> {
    const { program, environment } = this;
    const env = { ...environment, ...variables };
    return await new Promise((resolve, reject) => {
      execFile(program, words, { env, signal, timeout: PATIENCE_MS, maxBuffer: MAX_ANSWER_BYTES, encoding: 'utf8' }, (error, stdout, stderr) => {
        if (!error) resolve(stdout.trim());
        else if (signal?.aborted) reject(signal.reason as Error);
        else if (error.killed) reject(new ContainerEngineError(`${this.name} does not answer.`));
        else reject(new ContainerEngineError(errorLine(stderr) || error.message));
      });
    });
  }
}

/** Docker says it in the first line. Podman warns before it does. */
function errorLine(text: string): string {
  const lines = text.trim().split('\n');
  const line = lines.find((candidate) => /^error:/i.test(candidate)) ?? lines[0] ?? '';
  return line.replace(/^(?:docker|error(?: response from daemon)?):\s*/gi, '').slice(0, 500);
}
