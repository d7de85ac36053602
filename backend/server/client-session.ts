import { ERROR_CODES, MAX_MESSAGE_BYTES, type Capability, type ClientRequests, type Health, type HealthDetails } from '../protocol/methods.ts';
import { RequestError } from '../protocol/request-error.ts';
import { CLOSE_CODES, type MessageSocket } from '../protocol/socket-connection.ts';
import { backendContract, TypedConnection, type RequestHandler, type RequestHandlers } from '../protocol/typed-connection.ts';
import { compatibility, PROTOCOL_VERSION } from '../protocol/version.ts';
import type { RunService } from '../solve/run-service.ts';
import type { ConversationService } from '../converse/converser.ts';
import type { SuggestionService } from '../suggest/suggester.ts';
import type { ClientRegistry, ConnectedClient } from './client-registry.ts';
import { explainError } from './explain-error.ts';
import { backendHandlers } from './handlers/backend-handlers.ts';
import { contextHandlers } from './handlers/context-handlers.ts';
import { converseHandlers } from './handlers/converse-handlers.ts';
import { evaluationHandlers, type EvaluationService } from './handlers/evaluation-handlers.ts';
import { modelsHandlers, type ModelsAccess } from './handlers/models-handlers.ts';
import { leftOutHandlers } from './handlers/left-out-handlers.ts';
import { recordsHandlers, type JudgedSteps } from './handlers/records-handlers.ts';
import { runsHandlers } from './handlers/runs-handlers.ts';
import { ClientEndpoints, type EndpointService } from './handlers/serve-handlers.ts';
import { ClientSimulation, type SimulationService } from './handlers/simulation-handlers.ts';
import { suggestHandlers } from './handlers/suggest-handlers.ts';
import { trainingHandlers, type TrainingService } from './handlers/training-handlers.ts';
import { workersHandlers, type PoolEditor } from './handlers/workers-handlers.ts';
import { RunFeed } from './run-feed.ts';
import { TrainingFeed } from './training-feed.ts';

export interface HealthSource {
  /** The results so far. */
  current(): Health;
  /** Waits for all checks. */
  checked(): Promise<Health>;
  /** Waits for all checks and looks at the current state. */
  details(signal: AbortSignal): Promise<HealthDetails>;
}

export interface SessionLimits {
  /** With more unsent bytes than this, streamed text is skipped until the client has caught up. */
  readonly textBufferBytes: number;
  /** With more unsent bytes than this, the connection is closed: the client has stopped reading. It can reconnect and get a snapshot. */
  readonly maxBufferedBytes: number;
  /** The connection is closed if no `initialize` arrives in this time. */
  readonly initializeTimeoutMs: number;
}

export interface SessionDependencies {
  readonly runs: RunService;
  readonly pool: PoolEditor;
  readonly models: ModelsAccess;
  readonly trainings: TrainingService;
  readonly evaluations: EvaluationService;
  readonly suggestions: SuggestionService;
  readonly conversations: ConversationService;
  readonly endpoints: EndpointService;
  readonly simulations: SimulationService;
  /** What tests said of workers. */
  readonly judged: JudgedSteps;
  readonly clients: ClientRegistry;
  readonly health: HealthSource;
  readonly stop: () => void;
  readonly explain: (error: unknown) => RequestError | undefined;
  readonly log: (line: string) => void;
  readonly limits: SessionLimits;
}

/** Allowed before `initialize`: `initialize` itself, and `backend/stop`, so that a client of another version can end this backend. */
const BEFORE_INITIALIZE: ReadonlySet<string> = new Set<keyof ClientRequests>(['initialize', 'backend/stop']);

type Connection = TypedConnection<typeof backendContract>;

/** One connection, from its handshake to its end. Lives as long as the socket; the caller need not keep a reference. */
export class ClientSession {
  readonly #connection: Connection;
  readonly #dependencies: SessionDependencies;
  readonly #socket: MessageSocket;
  #client: ConnectedClient | undefined;
  #feeds: readonly { close(): void }[] = [];
  #stopListening: (() => void) | undefined;

  constructor(socket: MessageSocket, dependencies: SessionDependencies) {
    const { log, limits, explain } = dependencies;
    this.#socket = socket;
    this.#dependencies = dependencies;
    this.#connection = new TypedConnection(socket, backendContract, {
      maxMessageBytes: Number.POSITIVE_INFINITY,
      maxBufferedBytes: limits.maxBufferedBytes,
      admit: (method) => this.#admit(method),
      explain: (error) => explainError(error) ?? explain(error),
      onProblem: log,
    });
    const late = setTimeout(() => {
      this.#connection.close('The client did not send "initialize" in time.', CLOSE_CODES.policy);
    }, limits.initializeTimeoutMs);
    this.#connection.handle('initialize', (params) => {
      const health = this.#initialize(params);
      clearTimeout(late);
      return { protocol: PROTOCOL_VERSION, health };
    });
    this.#handleAll(backendHandlers({
      health: () => dependencies.health.checked(),
      healthDetails: (signal) => dependencies.health.details(signal),
      otherClients: () => dependencies.clients.size - (this.#client ? 1 : 0),
      runs: dependencies.runs,
      stop: dependencies.stop,
    }));
    this.#connection.closed.then(() => {
      clearTimeout(late);
      for (const feed of this.#feeds) feed.close();
      this.#stopListening?.();
      if (this.#client) dependencies.clients.remove(this.#client);
    }).catch((error: unknown) => log(`Closing a connection failed: ${String(error)}`));
  }

  #admit(method: string): void {
    if (this.#client || BEFORE_INITIALIZE.has(method)) return;
    throw new RequestError({
      code: ERROR_CODES.notInitialized, kind: 'not-initialized',
      message: `The first request must be "initialize", not "${method}".`,
    });
  }

  #initialize({ protocol, capabilities, workspaces, listsRuns }: Parameters<RequestHandler<ClientRequests, 'initialize'>>[0]): Health {
    const answer = compatibility(protocol);
    if (!answer.compatible) {
      throw new RequestError({ code: ERROR_CODES.incompatible, kind: 'incompatible', message: answer.reason });
    }
    if (this.#client) {
      const message = 'This connection is already initialized.';
      throw new RequestError({ code: ERROR_CODES.refused, kind: 'initialized', message });
    }
    const { runs, pool, models, trainings, evaluations, suggestions, conversations, endpoints, simulations, judged, clients, health, log } = this.#dependencies;
    const connection = this.#connection;
    const client: ConnectedClient = {
      capabilities: new Set<Capability>(capabilities),
      workspaces,
      request: (method, params, signal) => connection.request(method, params, signal),
    };
    const output = this.#feedOutput();
    const feed = new RunFeed(runs, output, { listsRuns });
    const trainingFeed = new TrainingFeed(trainings, output);
    const simulation = new ClientSimulation(simulations, { onChanged: () => connection.notify('pool/changed', {}), log });
    const served = new ClientEndpoints(endpoints, { say: (line) => connection.notify('serve/said', { line }), log });
    this.#client = client;
    const stopEvaluations = evaluations.listen((evaluation) => connection.notify('evaluation/changed', evaluation));
    const stopRemovals = evaluations.listenForRemovals((folder) => connection.notify('evaluation/removed', { folder }));
    this.#feeds = [feed, trainingFeed, simulation, served, { close: stopEvaluations }, { close: stopRemovals }];
    this.#stopListening = models.listen((status) => connection.notify('model/status', status));
    this.#handleAll({
      ...runsHandlers(runs, feed),
      ...contextHandlers(runs.questions),
      ...trainingHandlers(trainings, trainingFeed),
      ...evaluationHandlers(evaluations, (told) => connection.notify('evaluation/preparing', told)),
      ...workersHandlers(pool),
      ...recordsHandlers(judged, pool),
      ...leftOutHandlers(runs),
      ...simulation.handlers(),
      ...converseHandlers(conversations, (text) => connection.notify('converse/text', text)),
      ...served.handlers(),
      ...suggestHandlers(suggestions, (text) => connection.notify('suggest/text', text)),
      ...modelsHandlers({ models, pool, notifyProgress: (progress) => connection.notify('model/pullProgress', progress) }),
    });
    connection.on('client/modelText', ({ callId, text }) => clients.modelText(client, callId, text));
    connection.on('client/secretChanged', () => clients.secretChanged());
    clients.add(client);
    return health.current();
  }

  #feedOutput() {
    const { limits: { textBufferBytes } } = this.#dependencies;
    const connection = this.#connection;
    const socket = this.#socket;
    return {
      notify: connection.notify.bind(connection),
      get behind() {
        return socket.bufferedAmount > textBufferBytes;
      },
    };
  }

  #handleAll(handlers: Partial<RequestHandlers<ClientRequests>>): void {
    for (const [method, handler] of Object.entries(handlers)) {
      // The map's type pairs each name with its handler; entries() loses that.
      this.#connection.handle(method as keyof ClientRequests, handler as RequestHandler<ClientRequests, keyof ClientRequests>);
    }
  }
}

export const DEFAULT_LIMITS: SessionLimits = {
  textBufferBytes: 1024 * 1024,
  maxBufferedBytes: 64 * MAX_MESSAGE_BYTES,
  initializeTimeoutMs: 10_000,
};
