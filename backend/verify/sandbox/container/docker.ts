import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** Docker is not there, does not answer, or refused; the message says which, in its own words where it had some. */
export class DockerError extends Error {
  override readonly name = 'DockerError';
}

/** What of our environment says where Docker is and who may use it. Nothing else of it is passed on. */
const VARIABLES = /^(?:DOCKER_\w+|HOME|XDG_RUNTIME_DIR|SSH_AUTH_SOCK)$/;

/** A command of the client; starting a container on a busy machine takes seconds. */
const PATIENCE_MS = 60_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Docker's command-line client. */
export class Docker {
  /** What the client is started with; its PATH has absolute folders alone. */
  readonly environment: Readonly<Record<string, string>>;

  /** `searchPath`: where the client is looked for. `environment`: our own. */
  constructor({ searchPath, environment }: { readonly searchPath: string; readonly environment: NodeJS.ProcessEnv }) {
    const passed = Object.entries(environment).filter((entry): entry is [string, string] => VARIABLES.test(entry[0]) && entry[1] !== undefined);
    this.environment = { ...Object.fromEntries(passed), PATH: searchPath.split(path.delimiter).filter(path.isAbsolute).join(path.delimiter) };
  }

  /** The client's program, absolute. @throws DockerError where there is none */
  get program(): string {
    const folders = this.environment['PATH']?.split(path.delimiter) ?? [];
    const found = folders.map((folder) => path.join(folder, 'docker')).find(isProgram);
    if (found === undefined) throw new DockerError('There is no docker on this machine.');
    return found;
  }

  /** What a command of the client prints. @throws DockerError, the signal's reason */
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
