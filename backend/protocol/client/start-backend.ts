import { setTimeout as delay } from 'node:timers/promises';
import { RequestError } from '../request-error.ts';
import { compatibility, PROTOCOL_VERSION } from '../version.ts';
import type { BackendClient } from './backend-client.ts';
import { BackendStartError, logPath, spawnBackend, type BackendProcess, type SpawnOptions } from './backend-process.ts';
import { prepareHome, readRecord, type BackendRecord } from './discovery.ts';
import { IncompatibleBackendError, NoBackendError, openClient, openConnection, type ClientOptions } from './open-client.ts';
import { isProcessAlive } from './process-alive.ts';

export interface ConnectOptions extends SpawnOptions, ClientOptions {
  readonly signal?: AbortSignal;
  /** Progress messages for people, one sentence each. */
  readonly onProgress?: (sentence: string) => void;
}

/** A cold start of the backend takes well under a second; this allows for a busy machine. */
const START_TIMEOUT_MS = 20_000;
const FIRST_POLL_MS = 20;
const SLOWEST_POLL_MS = 250;

/**
 * Connects to the user's backend and starts it if needed. Concurrent callers all connect to the same one.
 * @throws BackendStartError, IncompatibleBackendError, UnsafeHomeError, or the signal's reason.
 */
export async function connectBackend(options: ConnectOptions): Promise<BackendClient> {
  const { home, signal, onProgress } = options;
  await prepareHome(home);
  const deadline = Date.now() + START_TIMEOUT_MS;
  let started: { ended: boolean; error?: BackendStartError | undefined } | undefined;
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, SLOWEST_POLL_MS)) {
    signal?.throwIfAborted();
    const record = await readRecord(home);
    // A backend started here is used even if it reports an older version: a restart would give the same one.
    const client = record && (await join(record, options, { mayReplace: started === undefined }));
    if (client) return client;
    if (started?.error) throw started.error;
    if (Date.now() > deadline) {
      throw new BackendStartError(
        `The backend did not start within ${START_TIMEOUT_MS / 1000} seconds; ${logPath(home)} says what it did.`,
      );
    }
    // Exit code 0 means that another backend was running. If that one has ended since, start again.
    if (!started || started.ended) {
      onProgress?.('Starting the backend.');
      started = watch(await spawnBackend(options));
    }
    // An abort ends the wait, and the next iteration throws the signal's reason.
    await delay(pollMs, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
}

/**
 * Connects to the user's backend if one runs, and starts none.
 * @throws BackendStartError if one runs and does not answer, IncompatibleBackendError
 */
export async function joinBackend(options: ConnectOptions): Promise<BackendClient | undefined> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const record = await readRecord(options.home);
    if (!record || !isProcessAlive(record.pid)) return undefined;
    const client = await join(record, options, { mayReplace: false });
    if (client) return client;
    if (Date.now() > deadline) throw new BackendStartError(`The backend runs and did not answer within ${START_TIMEOUT_MS / 1000} seconds; ${logPath(options.home)} says what it does.`);
    await delay(SLOWEST_POLL_MS);
  }
}

/**
 * Stops the running backend of any version. With `ifIdle` only if it is not in use.
 * @returns false if none runs. @throws RequestError with the backend's message if it refuses.
 */
export async function stopBackend(home: string, { ifIdle = false }: { ifIdle?: boolean } = {}): Promise<boolean> {
  const record = await readRecord(home);
  if (!record || !isProcessAlive(record.pid)) return false;
  try {
    const connection = await openConnection(record);
    try {
      await connection.request('backend/stop', { ifIdle });
      await connection.closed;
    } finally {
      connection.close();
    }
    return true;
  } catch (error) {
    if (error instanceof NoBackendError) return false;
    throw error;
  }
}

function watch(backend: BackendProcess): { ended: boolean; error?: BackendStartError | undefined } {
  const state: { ended: boolean; error?: BackendStartError | undefined } = { ended: false };
  const end = (error?: BackendStartError): void => void Object.assign(state, { ended: true, error });
  // Where its last words cannot be read, the next turn starts another one or runs out of time.
  backend.ended.then(end, () => end());
  return state;
}

/** The running backend, or `undefined` if one must be started: none runs, or an older one was stopped. */
async function join(
  record: BackendRecord, options: ConnectOptions, { mayReplace }: { mayReplace: boolean },
): Promise<BackendClient | undefined> {
  if (!isProcessAlive(record.pid)) return undefined;
  const answer = compatibility(PROTOCOL_VERSION, record.protocol);
  const older = answer.compatible
    ? isOlder(record.version, options.client.version)
    : record.protocol.major < PROTOCOL_VERSION.major;
  if (older && mayReplace && (await makeWay(record, options))) return undefined;
  if (!answer.compatible) throw new IncompatibleBackendError(answer.reason);
  try {
    return await openClient(record, options, options.signal);
  } catch (error) {
    if (error instanceof NoBackendError) return undefined;
    throw error;
  }
}

/** Stops an older backend. @returns false if it refuses because it is in use. */
async function makeWay({ version }: BackendRecord, { home, onProgress }: ConnectOptions): Promise<boolean> {
  try {
    await stopBackend(home, { ifIdle: true });
    onProgress?.(`An older backend (${version}) was stopped.`);
    return true;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    onProgress?.(error.message);
    return false;
  }
}

/** Compares versions such as 0.2.0 numerically. A part that is not a number counts as 0. */
export function isOlder(version: string, than: string): boolean {
  const numbers = (text: string) => [0, 1, 2].map((index) => Number.parseInt(text.split(/[.+-]/)[index] ?? '', 10) || 0);
  const wanted = numbers(than);
  const differences = numbers(version).map((number, index) => number - (wanted[index] ?? 0));
  return (differences.find((difference) => difference !== 0) ?? 0) < 0;
}
