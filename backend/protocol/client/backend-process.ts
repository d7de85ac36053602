import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { userPath } from '../../common/user-path.ts';

/*
 * Starts the backend as a detached child process, with only the environment variables that it needs, and with its output in a log file.
 */

export interface SpawnOptions {
  readonly home: string;
  readonly backendScript: string;
  /** The Node to use instead of this process's own. */
  readonly nodePath?: string | undefined;
  /** `nodePath` (or this process) is VS Code's Electron, which ELECTRON_RUN_AS_NODE makes behave as Node. */
  readonly nodeIsElectron?: boolean | undefined;
  /** Variables in addition to those passed on. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** The backend could not be started. The message includes its last line of output. */
export class BackendStartError extends Error {
  override readonly name = 'BackendStartError';
}

/** At a start, a log longer than this becomes `backend.log.1`, in place of the one before. */
const LOG_ROTATION_BYTES = 4 * 1024 * 1024;

/**
 * The environment variables passed on. This is a list of allowed names, because environments also hold API keys, which must not reach a
 * long-lived process.
 */
const PASSED_ON = [
  'PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'XDG_RUNTIME_DIR',
  // Proxies and certificates.
  'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy',
  'NODE_USE_ENV_PROXY', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR',
  // Where Ollama listens.
  'OLLAMA_HOST',
  // What people set for the sandbox (docs/sandbox.md), and where container engines are.
  'CONDUCTOR_READABLE', 'CONDUCTOR_COPY_SECRETS', 'CONDUCTOR_WALLS',
  'DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY', 'CONTAINER_HOST', 'DBUS_SESSION_BUS_ADDRESS',
  // Which GPU, and where its driver is.
  'CUDA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER', 'NVIDIA_TF32_OVERRIDE', 'VK_DRIVER_FILES', 'VK_ICD_FILENAMES', 'DRI_PRIME', 'MESA_VK_DEVICE_SELECT',
  'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_DATA_DIRS',
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
    ...(userPath(own) && { PATH: userPath(own) }),
    ...environment,
    CONDUCTOR_HOME: home,
    ...(nodeIsElectron && { ELECTRON_RUN_AS_NODE: '1' }),
  };
}

/** A backend started by this process. It may have ended since. */
export class BackendProcess {
  /** Resolves when the process ends: with an error if it did not start or its exit code is not 0. */
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
      // Not the current folder, which could not be removed while the backend runs.
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
  // Another process may have rotated the log already.
  if (size > LOG_ROTATION_BYTES) await rename(log, `${log}.1`).catch(() => undefined);
}

/** The last meaningful line: after a crash, Node prints the error first, then the stack and its version. */
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
