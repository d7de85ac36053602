import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import path from 'node:path';

/*
 * The backend as a child process: detached from whoever starts it, with nothing of that process's environment but what it needs,
 * and with its output in a log file.
 */

export interface SpawnOptions {
  readonly home: string;
  readonly backendScript: string;
  /** Another Node than the one this process runs on. */
  readonly nodePath?: string | undefined;
  /** `nodePath` (or this process) is Electron, VS Code's own: it is told to behave as Node. */
  readonly nodeIsElectron?: boolean | undefined;
  /** Added to the few variables that are passed on. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** The backend could not be started; the message holds its own last word where it had one. */
export class BackendStartError extends Error {
  override readonly name = 'BackendStartError';
}

/** At a start, a log longer than this becomes `backend.log.1`, in place of the one before. */
const LOG_ROTATION_BYTES = 4 * 1024 * 1024;

/**
 * What is passed on. API keys stand in environments, too, and belong to no process that outlives its starter: so variables are
 * named, not excluded.
 */
const PASSED_ON = [
  'PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'XDG_RUNTIME_DIR',
  // How this machine reaches the net.
  'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy',
  'NODE_USE_ENV_PROXY', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR',
  // Where Ollama listens.
  'OLLAMA_HOST',
  // Windows: without these, sockets, temporary files and child processes fail.
  'Path', 'PATHEXT', 'ComSpec', 'SystemRoot', 'SystemDrive', 'windir', 'TEMP', 'TMP', 'USERPROFILE', 'USERNAME', 'HOMEDRIVE',
  'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'ProgramData', 'ProgramFiles', 'PROCESSOR_ARCHITECTURE',
];

export function backendEnvironment(
  { home, nodeIsElectron, environment }: Pick<SpawnOptions, 'home' | 'nodeIsElectron' | 'environment'>,
  own: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const passedOn = PASSED_ON.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  return {
    ...Object.fromEntries(passedOn),
    // Set by a launcher that put tools of its own before the user's.
    ...(own['CONDUCTOR_USER_PATH'] && { PATH: own['CONDUCTOR_USER_PATH'] }),
    ...environment,
    CONDUCTOR_HOME: home,
    ...(nodeIsElectron && { ELECTRON_RUN_AS_NODE: '1' }),
  };
}

/** A backend that was started here and may have ended since. */
export class BackendProcess {
  /** Resolves when the process ends; with an error when it could not be started or ended with another code than 0. */
  readonly ended: Promise<BackendStartError | undefined>;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, explainExit: (how: string) => Promise<BackendStartError>) {
    this.#child = child;
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        resolve(new BackendStartError(
          `The backend could not be started with ${child.spawnfile} (${error.message}): check the setting conductor.nodePath.`,
        ));
      });
      child.once('exit', (code, signal) => {
        if (code === 0) resolve(undefined);
        else resolve(explainExit(signal ? `signal ${signal}` : `exit code ${code}`));
      });
    });
    child.unref();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }
}

export function logPath(home: string): string {
  return path.join(home, 'backend.log');
}

export async function spawnBackend(options: SpawnOptions): Promise<BackendProcess> {
  const { home, backendScript, nodePath } = options;
  const log = logPath(home);
  await rotate(log);
  const output = openSync(log, 'a', 0o600);
  try {
    const { size: logStart } = fstatSync(output);
    const child = spawn(nodePath ?? process.execPath, [backendScript], {
      // Not the starter's folder: a process that outlives it would keep that folder from being removed.
      cwd: home,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', output, output],
      env: backendEnvironment(options),
    });
    return new BackendProcess(child, async (how) => {
      const lastWord = await lastLine(log, logStart);
      return new BackendStartError(
        lastWord ? `The backend ended at once: ${lastWord}` : `The backend ended at once (${how}); ${log} says more.`,
      );
    });
  } finally {
    closeSync(output);
  }
}

async function rotate(log: string): Promise<void> {
  const size = await stat(log).then((file) => file.size, () => 0);
  // Another starter may have done it a moment ago: then there is nothing left to do.
  if (size > LOG_ROTATION_BYTES) await rename(log, `${log}.1`).catch(() => undefined);
}

/** The last line that says something: Node ends a crash with its stack and its own version, and the error stands above. */
async function lastLine(log: string, start: number): Promise<string | undefined> {
  const handle = await open(log, 'r').catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(16_384), position: start });
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n').map((line) => line.trimEnd());
    const telling = lines.filter((line) => /^\S/.test(line) && !/^(Node\.js v|\}|\()/.test(line));
    return telling.findLast((line) => /^\w*Error\b/.test(line)) ?? telling.at(-1);
  } finally {
    await handle.close();
  }
}
