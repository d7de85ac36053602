import 'vscode-jsonrpc/node';
import { WebSocket } from 'ws';
import type { z } from 'zod';
import { ERROR_CODES, MAX_MESSAGE_BYTES, type Capability, type clientKindSchema } from '../methods.ts';
import { isRefusal } from '../request-error.ts';
import { clientContract, TypedConnection, type RequestHandler } from '../typed-connection.ts';
import { PROTOCOL_VERSION } from '../version.ts';
import { CHALLENGE_HEADER, isProof, newChallenge, PROOF_HEADER } from './backend-proof.ts';
import type { BackendClient, BackendRequestHandlers } from './backend-client.ts';
import type { BackendRecord } from './discovery.ts';

export interface ClientOptions {
  readonly client: { readonly kind: z.infer<typeof clientKindSchema>; readonly version: string };
  readonly capabilities: readonly Capability[];
  /** Folders open in the client. Questions about runs in them go to this client first. */
  readonly workspaces: readonly string[];
  /** False: it is not told which runs change. */
  readonly listsRuns?: boolean;
  /** Handlers for the backend's requests; they must match the client's capabilities. */
  readonly handlers: BackendRequestHandlers;
  /** Problems outside of any request, for a log. */
  readonly onProblem?: (problem: string) => void;
}

/** The record is stale: no server answers at its port, or the server does not prove that it knows the token. */
export class NoBackendError extends Error {
  override readonly name = 'NoBackendError';
}

/** The running backend has another major version of the protocol. */
export class IncompatibleBackendError extends Error {
  override readonly name = 'IncompatibleBackendError';
}

/** A response may hold a whole run with the text of every worker. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
/** A local handshake takes milliseconds. A backend that takes longer than this is overloaded or broken. */
const HANDSHAKE_TIMEOUT_MS = 5_000;

export type BackendConnection = TypedConnection<typeof clientContract>;

/**
 * Opens the socket, without `initialize`: enough for `backend/stop`.
 * @throws NoBackendError
 */
export async function openConnection(
  { port, token }: Pick<BackendRecord, 'port' | 'token'>, onProblem?: (problem: string) => void,
): Promise<BackendConnection> {
  const challenge = newChallenge();
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, {
    headers: { authorization: `Bearer ${token}`, [CHALLENGE_HEADER]: challenge },
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_ANSWER_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  });
  // An unproven server is disconnected before its first request is read.
  socket.once('upgrade', ({ headers }) => {
    if (!isProof(headers[PROOF_HEADER], token, challenge)) socket.terminate();
  });
  const connection = new TypedConnection(socket, clientContract, {
    maxMessageBytes: MAX_MESSAGE_BYTES,
    maxBufferedBytes: 16 * MAX_MESSAGE_BYTES,
    ...(onProblem && { onProblem }),
  });
  const opened = Promise.withResolvers<void>();
  socket.once('open', () => opened.resolve());
  await Promise.race([
    opened.promise,
    connection.closed.then((reason) => {
      throw new NoBackendError(`No backend answers on port ${port}. ${reason}`);
    }),
  ]);
  return connection;
}

/**
 * Connects and completes the handshake.
 * @throws NoBackendError, IncompatibleBackendError
 */
export async function openClient(record: BackendRecord, options: ClientOptions, signal?: AbortSignal): Promise<BackendClient> {
  signal?.throwIfAborted();
  const connection = await openConnection(record, options.onProblem);
  try {
    const { handlers } = options;
    answer(connection, 'client/secret', handlers['client/secret']);
    answer(connection, 'client/confirm', handlers['client/confirm']);
    answer(connection, 'client/model', handlers['client/model']);
    answer(connection, 'client/python', handlers['client/python']);
    await connection.request(
      'initialize',
      {
        protocol: PROTOCOL_VERSION,
        client: options.client,
        capabilities: [...options.capabilities],
        workspaces: [...options.workspaces],
        ...(options.listsRuns !== undefined && { listsRuns: options.listsRuns }),
      },
      signal ? AbortSignal.any([signal, AbortSignal.timeout(HANDSHAKE_TIMEOUT_MS)]) : AbortSignal.timeout(HANDSHAKE_TIMEOUT_MS),
    );
    return connection;
  } catch (error) {
    connection.close();
    signal?.throwIfAborted();
    if (isRefusal(error)) {
      throw error.code === ERROR_CODES.incompatible ? new IncompatibleBackendError(error.message) : error;
    }
    throw new NoBackendError(`The backend on port ${record.port} did not shake hands.`, { cause: error });
  }
}

function answer<K extends keyof BackendRequestHandlers>(
  connection: BackendConnection, method: K, handler: BackendRequestHandlers[K],
): void {
  if (!handler) return;
  const answerRequest: RequestHandler<typeof clientContract.answers, K> = (params, { signal }) => handler(params, signal);
  connection.handle(method, answerRequest);
}
