import { randomBytes } from 'node:crypto';
import { prepareHome, removeRecord, writeRecord } from '../protocol/client/discovery.ts';
import type { RequestError } from '../protocol/request-error.ts';
import { PROTOCOL_VERSION } from '../protocol/version.ts';
import type { RunService } from '../solve/run-service.ts';
import type { SuggestionService } from '../suggest/suggester.ts';
import { BackendServer } from './backend-server.ts';
import { ClientRegistry } from './client-registry.ts';
import type { HealthSource, SessionLimits } from './client-session.ts';
import type { PoolEditor } from './handlers/workers-handlers.ts';
import type { ModelsAccess } from './handlers/models-handlers.ts';
import type { TrainingService } from './handlers/training-handlers.ts';
import { IdleExit } from './idle-exit.ts';
import { claimInstance } from './single-instance.ts';

/** What the composition root builds once this process has become the backend. */
export interface BackendParts {
  readonly runs: RunService;
  readonly pool: PoolEditor;
  readonly models: ModelsAccess;
  readonly trainings: TrainingService;
  readonly suggestions: SuggestionService;
  readonly health: HealthSource;
  /** Begins what was under way when the last backend ended. Called when clients can connect. */
  resume?(): void;
  /** Stops what runs without ending any run, and closes the journal. */
  close(): Promise<void>;
}

export interface HostOptions {
  readonly home: string;
  readonly version: string;
  /** How long the backend stays after its last client has left and its last run has ended. */
  readonly idleMs?: number;
  readonly compose: (clients: ClientRegistry) => Promise<BackendParts>;
  /** What a client is told of errors that this room does not know, by their class. */
  readonly explain?: (error: unknown) => RequestError | undefined;
  readonly log?: (line: string) => void;
  readonly limits?: Partial<SessionLimits>;
  /** Ends the backend as a stop request does. */
  readonly signal?: AbortSignal;
}

const DEFAULT_IDLE_MS = 5 * 60 * 1000;
/** Runs are journalled step by step, so that letting go of them needs no longer than a call takes to notice its signal. */
const CLOSE_TIMEOUT_MS = 10_000;

/**
 * The life of a backend process: becomes the one backend of its home folder, serves, and ends when nobody needs it any more.
 * Journal and runs are opened after the lock is held and closed before it is given back, so that two backends never share them.
 * @returns why it ended: `another` when another backend runs already. @throws InstanceHeldError, UnsafeHomeError
 */
export async function hostBackend(options: HostOptions): Promise<'another' | 'idle' | 'stopped'> {
  const { home, version, log = () => {} } = options;
  await prepareHome(home);
  const claim = await claimInstance(home);
  if (!claim.mine) return 'another';

  const ending = Promise.withResolvers<'idle' | 'stopped'>();
  const stop = () => ending.resolve('stopped');
  const clients = new ClientRegistry();
  const token = randomBytes(32).toString('base64url');
  const parts = await options.compose(clients);
  const { runs, pool, models, trainings, suggestions, health } = parts;

  const idle = new IdleExit({
    idleMs: options.idleMs ?? DEFAULT_IDLE_MS,
    isNeeded: () => clients.size > 0 || runs.activeRuns > 0 || trainings.active > 0,
    onIdle: () => ending.resolve('idle'),
  });
  const listening = [
    runs.listen({ onEvent: () => {}, onText: () => {}, onChanged: () => idle.touch(), onRemoved: () => {} }),
    trainings.listen(() => idle.touch()),
  ];
  const stopCounting = clients.onCountChanged(() => idle.touch());

  const server = new BackendServer({
    runs, pool, models, trainings, suggestions, clients, health, token, stop, log,
    explain: options.explain ?? (() => undefined),
    ...(options.limits && { limits: options.limits }),
  });
  const { port } = await server.listen();
  await writeRecord(home, { port, pid: process.pid, version, protocol: PROTOCOL_VERSION, token, startedAt: Date.now() });
  parts.resume?.();
  log(`Backend ${version} listens on port ${port}.`);

  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  options.signal?.addEventListener('abort', stop, { once: true });
  const why = await ending.promise;

  // First the door, so that nobody new comes in; last the lock, so that a successor finds everything closed.
  stopCounting();
  for (const stopListening of listening) stopListening();
  idle.stop();
  const closed = server.close(why === 'idle' ? 'The backend ends because nobody needed it.' : 'The backend was asked to end.');
  await removeRecord(home, token);
  await closed;
  await inTime(parts.close(), () => log('What runs did not let go in time and is left as it stands.'));
  claim.instance.release();
  process.off('SIGTERM', stop);
  process.off('SIGINT', stop);
  log(`Backend ended: ${why}.`);
  return why;
}

/** A part that hangs must not keep the lock, or no backend could follow this one. */
async function inTime(closing: Promise<void>, onLate: () => void): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    onLate();
    late.resolve();
  }, CLOSE_TIMEOUT_MS);
  try {
    await Promise.race([closing, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
