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
  /** What is being done, for people, one sentence at a time. */
  readonly onProgress?: (sentence: string) => void;
}

/** A cold start of Node with the backend takes well under a second; a machine that is busy gets this long. */
const START_TIMEOUT_MS = 20_000;
const FIRST_POLL_MS = 20;
const SLOWEST_POLL_MS = 250;

/**
 * A client of the user's one backend, which is started if it does not run. Many may do so at once and end up on the same one.
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
    // What was started here is taken as it is, even if it says that it is older: replacing it would start the same again.
    const client = record && (await join(record, options, { mayReplace: started === undefined }));
    if (client) return client;
    if (started?.error) throw started.error;
    if (Date.now() > deadline) {
      throw new BackendStartError(
        `The backend did not come up within ${START_TIMEOUT_MS / 1000} seconds; ${logPath(home)} says what it did.`,
      );
    }
    // A start that ended well has seen another backend; if that one is gone by now, it is our turn again.
    if (!started || started.ended) {
      onProgress?.('Starting the backend.');
      started = watch(await spawnBackend(options));
    }
    // Aborted, it ends early, and the next turn throws the signal's reason.
    await delay(pollMs, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
}

/**
 * Ends the backend that runs, whatever version it speaks. With `ifIdle` only if nobody needs it.
 * @returns false when none runs. @throws RequestError with the backend's sentence when it refuses.
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
  void backend.ended.then((error) => Object.assign(state, { ended: true, error }));
  return state;
}

/** The backend of the record, or `undefined` where one has to be started: there is none, or an older one made way. */
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

/** Asks an older backend to end. @returns false when it refuses, because somebody needs it. */
async function makeWay({ version }: BackendRecord, { home, onProgress }: ConnectOptions): Promise<boolean> {
  try {
    await stopBackend(home, { ifIdle: true });
    onProgress?.(`The running backend was older (${version}) and made way.`);
    return true;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    onProgress?.(error.message);
    return false;
  }
}

/** Compares versions such as 0.2.0 by their numbers; what is no number counts as 0. */
export function isOlder(version: string, than: string): boolean {
  const numbers = (text: string) => [0, 1, 2].map((index) => Number.parseInt(text.split(/[.+-]/)[index] ?? '', 10) || 0);
  const wanted = numbers(than);
  const differences = numbers(version).map((number, index) => number - (wanted[index] ?? 0));
  return (differences.find((difference) => difference !== 0) ?? 0) < 0;
}
