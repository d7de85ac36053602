import { APIError as AnthropicApiError } from '@anthropic-ai/sdk/core/error';
import { APIError as OpenAiApiError } from 'openai/core/error';
import { NO_USAGE } from '../../protocol/token-counts.ts';
import { factsOf } from '../../protocol/providers.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { WorkerError, type WorkerErrorKind } from '../errors.ts';
import { failureSentence, type FailureDetails } from '../failure-sentences.ts';
import { NotAStreamError, RedirectRefusedError, ResponseTooLargeError } from './guarded-fetch.ts';
import type { ConversationMessage } from '../model.ts';
import { quotable } from '../redact.ts';
import { parseRetryAfter } from '../limits/retry-after.ts';

export interface CallContext {
  readonly worker: WorkerConfig;
  readonly key?: string | undefined;
  readonly messages: readonly ConversationMessage[];
  readonly signal: AbortSignal;
  /** The usage that the provider reported before the attempt failed. */
  readonly usage?: Usage | undefined;
}

/** Classifies errors of SDKs, the network and streams, for all providers with a server. */
export function classifyError(error: unknown, context: CallContext): WorkerError {
  if (context.signal.aborted) return abortError(context);
  if (error instanceof WorkerError) return error;
  if (error instanceof OpenAiApiError || error instanceof AnthropicApiError) {
    const body = providerBody(error.error);
    if (typeof error.status === 'number') return classifyRefusal(error.status, body, error.headers, error, context);
    if (body !== undefined) return classifyProviderError(body, context, error);
  }
  return classifyTransport(error, context);
}

/** The error of an aborted attempt: the kind of the signal's reason, such as a timeout, otherwise `cancelled`. */
export function abortError({ signal, worker, usage }: Omit<CallContext, 'messages' | 'key'>): WorkerError {
  const reason: unknown = signal.reason;
  const kind = reason instanceof WorkerError ? reason.kind : 'cancelled';
  return new WorkerError({ kind, message: failureSentence(kind, worker), usage, cause: reason });
}

/** An error that a server reports inside its stream, or in the body of a refusal. */
export interface ProviderError {
  readonly type?: string | null | undefined;
  readonly code?: string | null | undefined;
  readonly message?: string | null | undefined;
}

/** Error types of Anthropic's API and error codes of OpenAI's, from their documentation and SDK types. */
const KINDS: ReadonlyMap<string, WorkerErrorKind> = new Map([
  ['authentication_error', 'authentication'],
  ['invalid_api_key', 'authentication'],
  ['billing_error', 'payment'],
  ['insufficient_quota', 'payment'],
  ['billing_hard_limit_reached', 'payment'],
  ['permission_error', 'permission'],
  ['not_found_error', 'not-found'],
  ['model_not_found', 'not-found'],
  ['invalid_request_error', 'invalid-request'],
  ['invalid_prompt', 'invalid-request'],
  ['request_too_large', 'context-overflow'],
  ['context_length_exceeded', 'context-overflow'],
  ['rate_limit_error', 'rate-limit'],
  ['rate_limit_exceeded', 'rate-limit'],
  ['overloaded_error', 'overloaded'],
  ['api_error', 'server'],
  ['timeout_error', 'server'],
  ['server_error', 'server'],
]);

export function kindOfStatus(status: number, { key, worker }: Pick<CallContext, 'key' | 'worker'>): WorkerErrorKind {
  switch (status) {
    case 401:
      return key === undefined && factsOf(worker.provider).reach === 'server' ? 'missing-key' : 'authentication';
    case 402:
      return 'payment';
    case 403:
      return 'permission';
    case 404:
    case 405:
    case 410:
      return 'not-found';
    case 413:
      return 'context-overflow';
    case 429:
      return 'rate-limit';
    case 503:
    case 529:
      return 'overloaded';
    case 408:
    case 409:
    case 425:
      return 'server';
    default:
      return status >= 500 ? 'server' : 'invalid-request';
  }
}

/** Servers without error codes report this only in the message. Our own messages are never matched. */
const SAYS_TOO_LONG = /context (?:length|window|size)|prompt is too long|maximum context|too many (?:input )?tokens/i;

function classifyRefusal(
  status: number,
  body: ProviderError | undefined,
  headers: Headers | undefined,
  cause: unknown,
  context: CallContext,
): WorkerError {
  const byStatus = kindOfStatus(status, context);
  const byBody = KINDS.get(body?.code ?? '') ?? KINDS.get(body?.type ?? '');
  // The body is more specific than a broad status: 400 for a prompt that is too long, 429 for an account without credit.
  const kind =
    byStatus === 'invalid-request' && SAYS_TOO_LONG.test(body?.message ?? '') ? 'context-overflow'
    : byBody !== undefined && (status === 400 || (status === 429 && byBody === 'payment')) ? byBody
    : byStatus;
  return workerError(kind, context, {
    quote: quoteOf(body, context),
    status,
    retryAfterMs: parseRetryAfter(headers, Date.now()),
    usage: NO_USAGE,
    cause,
  });
}

/** Classifies an error event in a stream that began successfully. */
export function classifyProviderError(error: ProviderError, context: CallContext, cause?: unknown): WorkerError {
  const status = Number(error.code);
  const kind =
    KINDS.get(error.code ?? '') ?? KINDS.get(error.type ?? '') ??
    (status >= 400 && status < 600 ? kindOfStatus(status, context) : 'server');
  return workerError(kind, context, { quote: quoteOf(error, context), usage: context.usage, cause });
}

/** Codes of Node's network and TLS layers for requests that were never sent. */
const NEVER_SENT = new Set([
  'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Also reported if there is no network. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'EAI_AGAIN']);

function classifyTransport(error: unknown, context: CallContext): WorkerError {
  const { usage } = context;
  const chain = causes(error);
  for (const cause of chain) {
    if (cause instanceof RedirectRefusedError) {
      const details = { redirectTarget: cause.target, status: cause.status };
      return workerError('not-found', context, { ...details, usage: NO_USAGE, cause: error });
    }
    if (cause instanceof NotAStreamError) {
      const { contentType } = cause;
      const kind = contentType === 'text/html' ? 'not-found' : 'invalid-response';
      return workerError(kind, context, { contentType, usage, cause: error });
    }
    if (cause instanceof ResponseTooLargeError) return workerError('too-large', context, { usage, cause: error });
    const code = 'code' in cause ? String(cause.code) : '';
    if (NO_SUCH_NAME.has(code)) {
      return workerError('network', context, { unreachable: true, unknownHost: true, usage: NO_USAGE, cause: error });
    }
    if (NEVER_SENT.has(code)) return workerError('network', context, { unreachable: true, usage: NO_USAGE, cause: error });
    if (code === 'UND_ERR_HEADERS_TIMEOUT') return workerError('first-token-timeout', context, { usage, cause: error });
    if (code === 'UND_ERR_BODY_TIMEOUT') return workerError('idle-timeout', context, { usage, cause: error });
    if (/^(E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(code)) return workerError('network', context, { usage, cause: error });
  }
  // For some broken connections undici reports only `TypeError: terminated` or `fetch failed`.
  const broken = chain.some((cause) => cause instanceof TypeError && /^(terminated|fetch failed)/.test(cause.message));
  return workerError(broken ? 'network' : 'invalid-response', context, { usage, cause: error });
}

function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let current = error; current instanceof Error && chain.length < 8; current = current.cause) {
    chain.push(current);
    if (current instanceof AggregateError) chain.push(...current.errors.filter((inner) => inner instanceof Error).slice(0, 4));
  }
  return chain;
}

type Extra = FailureDetails & Pick<WorkerError, 'usage'> & Partial<Pick<WorkerError, 'status' | 'retryAfterMs' | 'cause'>>;

export function workerError(kind: WorkerErrorKind, { worker }: Pick<CallContext, 'worker'>, extra: Extra): WorkerError {
  const { usage, status, retryAfterMs, cause, ...details } = extra;
  return new WorkerError({ kind, message: failureSentence(kind, worker, details), status, retryAfterMs, usage, cause });
}

function quoteOf(error: ProviderError | undefined, { key, messages }: CallContext): string | undefined {
  if (!error?.message) return undefined;
  return quotable(error.message, { key, prompts: messages.flatMap(textsIn) });
}

function textsIn(message: ConversationMessage): string[] {
  const calls = message.role === 'tool' ? [] : message.toolCalls ?? [];
  return [message.content, ...calls.map((call) => call.arguments)];
}

/** The error object of a response. OpenAI's SDK unwraps it, Anthropic's does not, and Google wraps it in a list. */
function providerBody(body: unknown): ProviderError | undefined {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  if (typeof outer !== 'object' || outer === null) return typeof outer === 'string' ? { message: outer } : undefined;
  const inner = 'error' in outer ? outer.error : outer;
  if (typeof inner !== 'object' || inner === null) return typeof inner === 'string' ? { message: inner } : undefined;
  const field = (name: string): string | undefined => {
    const value: unknown = Reflect.get(inner, name);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  };
  return { type: field('type'), code: field('code'), message: field('message') };
}
