import {
  CancellationTokenSource, createMessageConnection, RAL, ResponseError, type CancellationToken, type MessageConnection,
} from 'vscode-jsonrpc';
import * as z from 'zod';
import {
  backendNotifications, backendRequests, clientNotifications, clientRequests,
  type NotificationMap, type Params, type ParamsInput, type RequestMap, type Result,
} from './methods.ts';
import { RequestError, RPC_CODES } from './request-error.ts';
import {
  CLOSE_CODES, closeReason, SocketReader, SocketWriter, type MessageSocket, type SocketLimits,
} from './socket-connection.ts';

/** The protocol's messages from the view of one end. */
export interface Contract {
  readonly calls: RequestMap;
  readonly answers: RequestMap;
  readonly tells: NotificationMap;
  readonly hears: NotificationMap;
}

export const clientContract = {
  calls: clientRequests, answers: backendRequests, tells: clientNotifications, hears: backendNotifications,
} as const satisfies Contract;
export const backendContract = {
  calls: backendRequests, answers: clientRequests, tells: backendNotifications, hears: clientNotifications,
} as const satisfies Contract;

export interface RequestContext {
  /** Aborts when the caller cancels the request or its connection ends. */
  readonly signal: AbortSignal;
  /** Runs the callback as soon as the answer is on its way, and before anything that arrives later. */
  afterReply(callback: () => void): void;
}

export type RequestHandler<M extends RequestMap, K extends keyof M> =
  (params: Params<M, K>, context: RequestContext) => Result<M, K> | Promise<Result<M, K>>;
export type RequestHandlers<M extends RequestMap, K extends keyof M = keyof M> = { readonly [N in K]: RequestHandler<M, N> };

export interface ConnectionOptions extends SocketLimits {
  /** Converts a handler's error for the caller. Unknown errors become `internal`, without their text. */
  readonly explain?: (error: unknown) => RequestError | undefined;
  /** Throws a RequestError when the method may not be called now. */
  readonly admit?: (method: string) => void;
  /** Problems outside of any request, for a log. */
  readonly onProblem?: (problem: string) => void;
}

type AnyHandler = (params: unknown, context: RequestContext) => unknown;
type Listener = (params: unknown) => void;

const errorDataSchema = z.object({ kind: z.string(), retryAfterMs: z.number().nonnegative().optional() });

/**
 * JSON-RPC with the types and validation of the protocol. The receiver validates parameters, the caller validates results. Needs the
 * runtime layer of vscode-jsonrpc: each end imports `vscode-jsonrpc/node` once.
 */
export class TypedConnection<C extends Contract> {
  /** Resolves once the connection is closed, by either end, with a sentence that says why. */
  readonly closed: Promise<string>;
  readonly #contract: C;
  readonly #options: ConnectionOptions;
  readonly #socket: MessageSocket;
  readonly #rpc: MessageConnection;
  readonly #handlers = new Map<string, AnyHandler>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #underWay = new Set<AbortController>();

  constructor(socket: MessageSocket, contract: C, options: ConnectionOptions) {
    this.#contract = contract;
    this.#options = options;
    this.#socket = socket;
    const log = (message: string) => this.#problem(message);
    this.#rpc = createMessageConnection(
      new SocketReader(socket), new SocketWriter(socket, options), { error: log, warn: log, info: () => {}, log: () => {} },
    );
    this.#rpc.onRequest((method, params, token) => this.#answer(method, params, token));
    this.#rpc.onNotification((method, params) => this.#hear(method, params));
    this.closed = new Promise((resolve) => {
      let failure: Error | undefined;
      socket.on('error', (error) => { failure = error; });
      socket.on('close', (code, reason) => {
        this.#rpc.dispose();
        for (const controller of this.#underWay) controller.abort();
        resolve(closedBecause(code, reason.toString(), failure));
      });
    });
    this.#rpc.listen();
  }

  handle<K extends keyof C['answers'] & string>(method: K, handler: RequestHandler<C['answers'], K>): void {
    this.#handlers.set(method, handler as AnyHandler);
  }

  /** @returns a function that ends the subscription. */
  on<K extends keyof C['hears'] & string>(method: K, listener: (params: z.output<C['hears'][K]>) => void): () => void {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners.add(listener as Listener));
    return () => listeners.delete(listener as Listener);
  }

  /** @throws RequestError, or the signal's reason as soon as it aborts. */
  async request<K extends keyof C['calls'] & string>(
    method: K, params: ParamsInput<C['calls'], K>, signal?: AbortSignal,
  ): Promise<Result<C['calls'], K>> {
    signal?.throwIfAborted();
    const cancellation = new CancellationTokenSource();
    const aborted = Promise.withResolvers<never>();
    const abort = () => {
      cancellation.cancel();
      aborted.reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const result = await Promise.race([this.#send(method, params, cancellation.token), aborted.promise]);
      return this.#checkResult(method, result);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  notify<K extends keyof C['tells'] & string>(method: K, params: z.output<C['tells'][K]>): void {
    // A notification fails only if the connection is lost, which `closed` reports.
    this.#attempt(() => this.#rpc.sendNotification(method, params)).catch(() => undefined);
  }

  close(reason = 'The other end closed the connection.', code: number = CLOSE_CODES.normal): void {
    this.#socket.close(code, closeReason(reason));
  }

  async #send(method: string, params: unknown, token: CancellationToken): Promise<unknown> {
    try {
      return await this.#attempt(() => this.#rpc.sendRequest(method, params, token));
    } catch (error) {
      if (!(error instanceof ResponseError)) {
        throw new RequestError({
          code: RPC_CODES.disconnected, kind: 'disconnected', message: `${method} was not sent: the connection is closed.`,
        });
      }
      throw await this.#received(method, error);
    }
  }

  /** Async, because the library throws synchronously on a closed connection and rejects otherwise. */
  async #attempt<T>(send: () => Promise<T>): Promise<T> {
    return send();
  }

  async #received(method: string, error: ResponseError<unknown>): Promise<RequestError> {
    if (error.code === RPC_CODES.disconnected) {
      const message = `The connection ended before ${method} was answered: ${await this.closed}`;
      return new RequestError({ code: error.code, kind: 'disconnected', message });
    }
    const data = errorDataSchema.safeParse(error.data);
    const kind = data.success ? data.data.kind : error.code === RPC_CODES.notSent ? 'not-sent' : 'unknown';
    return new RequestError({ code: error.code, kind, message: error.message, retryAfterMs: data.data?.retryAfterMs });
  }

  #checkResult<K extends keyof C['calls'] & string>(method: K, result: unknown): Result<C['calls'], K> {
    const parsed = (this.#contract.calls[method] as RequestMap[string]).result.safeParse(result);
    if (parsed.success) return parsed.data as Result<C['calls'], K>;
    throw new RequestError({
      code: RPC_CODES.internalError, kind: 'invalid-result',
      message: `The answer to ${method} is not valid: ${firstIssue(parsed.error)}`,
    });
  }

  /** Never throws: the library would put the error's text on the wire. */
  async #answer(method: string, params: unknown, token: CancellationToken): Promise<unknown> {
    const controller = new AbortController();
    this.#underWay.add(controller);
    if (token.isCancellationRequested) controller.abort();
    const cancelled = token.onCancellationRequested(() => controller.abort());
    const afterReply: (() => void)[] = [];
    try {
      this.#options.admit?.(method);
      const row = ownRow(this.#contract.answers, method);
      const handler = this.#handlers.get(method);
      if (!row || !handler) {
        throw new RequestError({
          code: RPC_CODES.methodNotFound, kind: 'method-not-found', message: `There is no method "${method}" at this end.`,
        });
      }
      const parsed = row.params.safeParse(params ?? {});
      if (!parsed.success) {
        throw new RequestError({
          code: RPC_CODES.invalidParams, kind: 'invalid-params', message: `${method} was refused: ${firstIssue(parsed.error)}`,
        });
      }
      const context = { signal: controller.signal, afterReply: (callback: () => void) => { afterReply.push(callback); } };
      return await handler(parsed.data, context);
    } catch (error) {
      const { code, kind, message, retryAfterMs } = this.#explain(method, error, controller.signal);
      return new ResponseError(code, message, { kind, ...(retryAfterMs !== undefined && { retryAfterMs }) });
    } finally {
      cancelled.dispose();
      this.#underWay.delete(controller);
      // From here to the written reply the library goes through microtasks only, so an immediate comes after it.
      if (afterReply.length > 0) RAL().timer.setImmediate(() => afterReply.forEach((callback) => callback()));
    }
  }

  #explain(method: string, error: unknown, signal: AbortSignal): RequestError {
    if (error instanceof RequestError) return error;
    const explained = this.#options.explain?.(error);
    if (explained) return explained;
    if (signal.aborted) {
      return new RequestError({ code: RPC_CODES.requestCancelled, kind: 'cancelled', message: `${method} was cancelled.` });
    }
    this.#problem(`${method} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return new RequestError({
      code: RPC_CODES.internalError, kind: 'internal',
      message: `${method} could not be answered because of a fault on the other end; its log says which.`,
    });
  }

  #hear(method: string, params: unknown): void {
    try {
      this.#options.admit?.(method);
      const schema = ownRow(this.#contract.hears, method);
      if (!schema) return this.#problem(`An unknown notification "${method}" was ignored.`);
      const parsed = schema.safeParse(params ?? {});
      if (!parsed.success) return this.#problem(`The notification ${method} was ignored: ${firstIssue(parsed.error)}`);
      for (const listener of [...(this.#listeners.get(method) ?? [])]) listener(parsed.data);
    } catch (error) {
      this.#problem(`The notification ${method} was ignored: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #problem(problem: string): void {
    this.#options.onProblem?.(problem);
  }
}

/** Method names come from the peer: inherited properties such as `constructor` are not methods. */
function ownRow<T>(map: Readonly<Record<string, T>>, method: string): T | undefined {
  return Object.hasOwn(map, method) ? map[method] : undefined;
}

/** The first validation error with its field: `request.question: the question is empty`. */
function firstIssue(error: z.ZodError): string {
  const [issue, ...more] = error.issues;
  if (!issue) return 'it does not have the expected form';
  const field = issue.path.map(String).join('.');
  const others = more.length > 0 ? ` (and ${more.length} more)` : '';
  return `${field ? `${field}: ` : ''}${issue.message}${others}`.slice(0, 500);
}

function closedBecause(code: number, reason: string, failure: Error | undefined): string {
  if (reason) return reason;
  if (code === CLOSE_CODES.normal) return 'The connection was closed.';
  if (code === CLOSE_CODES.tooLarge) return 'The connection was closed because a message was too large.';
  return `The connection was lost${failure ? ` (${failure.message})` : ''}.`;
}
