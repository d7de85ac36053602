import { randomBytes } from 'node:crypto';
import { prepareHome, removeRecord, writeRecord } from '../protocol/client/discovery.ts';
import type { RequestError } from '../protocol/request-error.ts';
import { PROTOCOL_VERSION } from '../protocol/version.ts';
import type { RunService } from '../solve/run-service.ts';
import type { ConversationService } from '../converse/converser.ts';
import type { SuggestionService } from '../suggest/suggester.ts';
import { BackendServer } from './backend-server.ts';
import { ClientRegistry } from './client-registry.ts';
import type { HealthSource, SessionLimits } from './client-session.ts';
import type { PoolEditor } from './handlers/workers-handlers.ts';
import type { EvaluationService } from './handlers/evaluation-handlers.ts';
import type { ModelsAccess } from './handlers/models-handlers.ts';
import type { JudgedSteps } from './handlers/records-handlers.ts';
import type { EndpointService } from './handlers/serve-handlers.ts';
import type { SimulationService } from './handlers/simulation-handlers.ts';
import type { TrainingService } from './handlers/training-handlers.ts';
import { IdleExit } from './idle-exit.ts';
import { claimInstance } from './single-instance.ts';

/** The parts that the composition root creates after this process has become the backend. */
export interface BackendParts {
  readonly runs: RunService;
  readonly pool: PoolEditor;
  readonly models: ModelsAccess;
  readonly trainings: TrainingService;
  readonly evaluations: EvaluationService;
  readonly suggestions: SuggestionService;
  readonly conversations: ConversationService;
  readonly endpoints: EndpointService;
  readonly simulations: SimulationService;
  readonly judged: JudgedSteps;
  readonly health: HealthSource;
  /** Resumes unfinished work of the previous backend. Called when clients can connect. */
  resume?(): void;
  /** Stops all work without ending any run, and closes the journal. */
  close(): Promise<void>;
}

export interface HostOptions {
  readonly home: string;
  readonly version: string;
  /** How long the backend keeps running after the last client has left and the last run has ended. */
  readonly idleMs?: number;
  readonly compose: (clients: ClientRegistry) => Promise<BackendParts>;
  /** Converts errors that `explainError` does not know, by their class. */
  readonly explain?: (error: unknown) => RequestError | undefined;
  readonly log?: (line: string) => void;
  readonly limits?: Partial<SessionLimits>;
  /** Ends the backend like a stop request. */
  readonly signal?: AbortSignal;
}

const DEFAULT_IDLE_MS = 5 * 60 * 1000;
/** Runs are journalled step by step, so stopping them takes only as long as calls need to react to their signals. */
const CLOSE_TIMEOUT_MS = 10_000;

/**
 * The life cycle of a backend process: acquires the lock of the home folder, serves clients, and ends when idle or stopped. The journal is
 * opened after the lock is acquired and closed before it is released, so that two backends never share it.
 * @returns why it ended; `another` if another backend is running. @throws InstanceHeldError, UnsafeHomeError
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
  const { runs, pool, models, trainings, evaluations, suggestions, conversations, endpoints, simulations, judged, health } = parts;

  const idle = new IdleExit({
    idleMs: options.idleMs ?? DEFAULT_IDLE_MS,
    isNeeded: () => clients.size > 0 || runs.activeRuns > 0 || trainings.active > 0 || evaluations.active > 0,
    onIdle: () => ending.resolve('idle'),
  });
  const listening = [
    runs.listen({ onEvent: () => idle.touch(), onText: () => {}, onRemoved: () => {} }),
    trainings.listen(() => idle.touch()),
    evaluations.listen(() => idle.touch()),
  ];
  const stopCounting = clients.onCountChanged(() => idle.touch());

  const server = new BackendServer({
    runs, pool, models, trainings, evaluations, suggestions, conversations, endpoints, simulations, judged, clients, health, token, stop, log,
    explain: options.explain ?? (() => undefined),
    ...(options.limits && { limits: options.limits }),
  });
  const { port } = await server.listen();
  // Whoever reads the record may ask it to end.
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  options.signal?.addEventListener('abort', stop, { once: true });
  await writeRecord(home, { port, pid: process.pid, version, protocol: PROTOCOL_VERSION, token, startedAt: Date.now() });
  parts.resume?.();
  log(`Backend ${version} listens on port ${port}.`);

  const why = await ending.promise;

  // Close the server first, so that no client connects. Release the lock last, so that the next backend finds everything closed.
  stopCounting();
  for (const stopListening of listening) stopListening();
  idle.stop();
  const closed = server.close(why === 'idle' ? 'The backend ends because it was idle.' : 'The backend was asked to end.');
  await removeRecord(home, token);
  await closed;
  await inTime(parts.close(), () => log('Some work did not stop in time and is abandoned. It resumes from the journal.'));
  claim.instance.release();
  process.off('SIGTERM', stop);
  process.off('SIGINT', stop);
  log(`Backend ended: ${why}.`);
  return why;
}

/** A part that hangs must not keep the lock: it would block the next backend. */
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
