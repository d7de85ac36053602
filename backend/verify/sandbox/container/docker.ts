import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** Docker is missing, does not answer, or refused. The message says which, with Docker's own text if there is one. */
export class DockerError extends Error {
  override readonly name = 'DockerError';
}

/** The variables that say where Docker is and who may use it. No others are passed on. */
const VARIABLES = /^(?:DOCKER_\w+|HOME|XDG_RUNTIME_DIR|SSH_AUTH_SOCK)$/;

/** For one command of the client. On a busy machine, starting a container takes seconds. */
const PATIENCE_MS = 60_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Docker's command-line client. */
export class Docker {
  /** The environment of the client. Its PATH has only absolute folders. */
  readonly environment: Readonly<Record<string, string>>;

  /** `searchPath`: where to find the client. `environment`: our own. */
  constructor({ searchPath, environment }: { readonly searchPath: string; readonly environment: NodeJS.ProcessEnv }) {
    const passed = Object.entries(environment).filter((entry): entry is [string, string] => VARIABLES.test(entry[0]) && entry[1] !== undefined);
    this.environment = { ...Object.fromEntries(passed), PATH: searchPath.split(path.delimiter).filter(path.isAbsolute).join(path.delimiter) };
  }

  /** The client's program, absolute. @throws DockerError if there is none */
  get program(): string {
    const folders = this.environment['PATH']?.split(path.delimiter) ?? [];
    const found = folders.map((folder) => path.join(folder, 'docker')).find(isProgram);
    if (found === undefined) throw new DockerError('There is no docker on this machine.');
    return found;
  }

  /** The output of a client command. @throws DockerError, the signal's reason */
  async ask(words: readonly string[], { signal, variables = {} }: {
    readonly signal?: AbortSignal; readonly variables?: Readonly<Record<string, string>>;
  } = {}): Promise<string> {
    const { program, environment } = this;
    const env = { ...environment, ...variables };
    return await new Promise((resolve, reject) => {
      execFile(program, words, { env, signal, timeout: PATIENCE_MS, maxBuffer: MAX_ANSWER_BYTES, encoding: 'utf8' }, (error, stdout, stderr) => {
        if (!error) resolve(stdout.trim());
        else if (signal?.aborted) reject(signal.reason as Error);
        else if (error.killed) reject(new DockerError('Docker does not answer.'));
        else reject(new DockerError(firstLine(stderr) || error.message));
      });
    });
  }
}

const firstLine = (text: string): string => text.trim().split('\n')[0]?.replace(/^(?:docker|error response from daemon):\s*/gi, '').slice(0, 500) ?? '';

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
