import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Journal } from '../../../backend/journal/journal.ts';
import type { Health } from '../../../backend/protocol/methods.ts';
import { openClient, type ClientOptions } from '../../../backend/protocol/client/open-client.ts';
import { PROTOCOL_VERSION } from '../../../backend/protocol/version.ts';
import type { WorkerConfig } from '../../../backend/protocol/worker-config.ts';
import { BackendServer, type BackendServerOptions } from '../../../backend/server/backend-server.ts';
import { ClientRegistry } from '../../../backend/server/client-registry.ts';
import { PoolEditor } from '../../../backend/server/handlers/workers-handlers.ts';
import { nextPlanner } from '../../../backend/solve/run-pool.ts';
import { RawClient } from './raw-client.ts';
import { MemoryRuns } from './memory-runs.ts';
import { NO_CONVERSATIONS } from './no-conversations.ts';
import { NO_ENDPOINTS } from './no-endpoints.ts';
import { NO_EVALUATIONS } from './no-evaluations.ts';
import { NO_MODELS } from './no-models.ts';
import { NO_SIMULATIONS } from './no-simulations.ts';
import { NO_SUGGESTIONS } from './no-suggestions.ts';
import { NO_TRAININGS } from './no-trainings.ts';

export const TOKEN = 'a-token-of-this-test-and-of-nothing-else';

export const HEALTH: Health = { backendVersion: '1.0.0', node: 'v24.0.0', pid: 1, problems: [], sandbox: { available: true } };

export interface Serving {
  readonly port: number;
  readonly runs: MemoryRuns;
  readonly clients: ClientRegistry;
  /** The pool's file, in a folder of this test. */
  readonly workersFile: string;
  /** Its runs are none of the server's. */
  readonly journal: Journal;
  readonly log: string[];
  readonly server: BackendServer;
  /** Resolves when a client asked the backend to stop. */
  readonly stopped: Promise<void>;
  open(options?: Partial<ClientOptions>): ReturnType<typeof openClient>;
  raw(headers?: Record<string, string>): Promise<RawClient>;
  close(): Promise<void>;
}

/** A real server on a real socket, in this process. */
export async function serve(
  options: Partial<BackendServerOptions> & { secretTimeoutMs?: number; bundledConductor?: WorkerConfig } = {},
): Promise<Serving> {
  const runs = new MemoryRuns();
  const { secretTimeoutMs, bundledConductor, ...serverOptions } = options;
  const clients = new ClientRegistry(secretTimeoutMs === undefined ? {} : { secretTimeoutMs });
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-server-'));
  const workersFile = path.join(folder, 'workers.json');
  const journal = Journal.open(path.join(folder, 'journal.sqlite'), { isDurable: false });
  const log: string[] = [];
  const stopped = Promise.withResolvers<void>();
  const server = new BackendServer({
    runs, clients, token: TOKEN,
    pool: new PoolEditor(
      {
        file: workersFile,
        tryWorker: () => Promise.reject(new Error('secret detail of a fault')),
        priceOf: ({ model }) => (model === 'priced' ? { inputPerMillion: 1, outputPerMillion: 2, origin: { list: 'worker' } } : undefined),
        adapterVersion: () => Promise.resolve('0123456789abcdef'),
        whyNoModel: ({ model }) => Promise.resolve(model === 'gone' ? 'It is gone.' : undefined),
        findServers: () => Promise.resolve({ servers: [], looked: [] }), findAgents: () => Promise.resolve([]),
        listModels: () => Promise.reject(new Error('not here')),
        bundledConductor,
        nextPlanner: (file, ready) => nextPlanner(ready, { file, bundledConductor, priced: (worker) => worker }),
      },
      clients,
    ),
    models: NO_MODELS,
    trainings: NO_TRAININGS,
    evaluations: NO_EVALUATIONS,
    suggestions: NO_SUGGESTIONS,
    conversations: NO_CONVERSATIONS,
    endpoints: NO_ENDPOINTS,
    simulations: NO_SIMULATIONS,
    judged: journal,
    health: { current: () => HEALTH, checked: () => Promise.resolve(HEALTH), details: () => Promise.reject(new Error('not here')) },
    stop: () => stopped.resolve(),
    explain: () => undefined,
    log: (line) => log.push(line),
    ...serverOptions,
  });
  const { port } = await server.listen();
  return {
    port, runs, clients, workersFile, journal, log, server, stopped: stopped.promise,
    open: (more = {}) => openClient(
      { port, token: TOKEN, pid: process.pid, version: '1.0.0', protocol: PROTOCOL_VERSION, startedAt: 0 },
      { client: { kind: 'test', version: '1.0.0' }, capabilities: [], workspaces: [], handlers: {}, ...more },
    ),
    raw: (headers = { authorization: `Bearer ${TOKEN}` }) => RawClient.open(port, headers),
    close: async () => {
      await server.close();
      journal.close();
      await rm(folder, { recursive: true });
    },
  };
}
