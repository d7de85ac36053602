import * as z from 'zod';
import { MOMENTARY_FAILURES } from '../protocol/failure-kinds.ts';
import { withoutProviderWords } from '../protocol/provider-words.ts';
import { RequestError } from '../protocol/request-error.ts';

interface Details {
  /** The wait after which it may be granted. */
  readonly retryAfterMs?: number | undefined;
  /** Whether the same request may succeed soon. Clients of both SDKs obey it. */
  readonly isWorthRetry?: boolean;
  readonly cause?: unknown;
}

/** An answer that is an error: the status by which clients decide whether to try again, and OpenAI's type of it. */
export class EndpointError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly retryAfterMs: number | undefined;
  readonly isWorthRetry: boolean;

  constructor(status: number, type: string, code: string, message: string, { retryAfterMs, isWorthRetry = false, cause }: Details = {}) {
    super(message, { cause });
    this.status = status;
    this.type = type;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.isWorthRetry = isWorthRetry;
  }

  get headers(): Record<string, string> {
    return {
      'x-should-retry': String(this.isWorthRetry),
      ...(this.retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(this.retryAfterMs / 1_000)) }),
    };
  }
}

export const invalid = (message: string, status = 400, code = 'invalid_request'): EndpointError => new EndpointError(status, 'invalid_request_error', code, message);

/** @throws EndpointError that names the field */
export function parsed<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(`${issue?.path.join('.') || 'The request'}: ${issue?.message ?? 'not valid'}`);
}

/** A field that would change the answer and that no worker can be asked for. */
export const refused = (why: string): z.ZodOptional<z.ZodType<null | undefined>> => z.custom<null | undefined>((value) => value === undefined || value === null, { error: why }).optional();

/** The type of an error that is none of the request: a worker fails until a person changes something. */
export const WORKER_ERROR = 'worker_error';

const BY_KIND: Readonly<Record<string, readonly [status: number, type: string, code: string]>> = {
  'unknown-worker': [404, 'invalid_request_error', 'model_not_found'],
  'budget-spent': [402, 'insufficient_quota', 'insufficient_quota'],
  'run-removed': [503, 'server_error', 'run_removed'],
  'invalid-request': [400, 'invalid_request_error', 'invalid_request'],
  'context-overflow': [400, 'invalid_request_error', 'context_length_exceeded'],
  'too-large': [413, 'invalid_request_error', 'request_too_large'],
  'rate-limit': [429, 'rate_limit_error', 'rate_limit_exceeded'],
  'overloaded': [503, 'server_error', 'overloaded'],
};

/** Failures of a moment. All others stay until a person changes something, and each try would be paid for. */
const WORTH_RETRY: ReadonlySet<string> = new Set<string>([...MOMENTARY_FAILURES, 'run-removed']);

const PASSING = [502, 'server_error'] as const;
/**
 * Not every client reads the header. All take 400 for an error that stays, and it is the only such status of those that name none: LangChain tries
 * again after 424, and whatever the status, Continue and OpenCode after a "server_error".
 */
const LASTING = [400, WORKER_ERROR] as const;

/**
 * By such words anywhere in an error, OpenCode and Kilo take it for one that passes, whatever its status and headers say, and try again for minutes
 * while their person is told nothing. Providers write them into errors that last; Conductor's own sentences about those have none.
 */
export const SOUNDS_PASSING = new RegExp([
  String.raw`\b(?:429|50[0-4]|524)\b`, String.raw`rate[ _-]?(?:limit|increased)|too[ _]many[ _]requests`, String.raw`overloaded|unavailable|exhausted|at capacity`,
  String.raw`(?:internal|server|network|connection)[ _-]error|provider[ _-]returned[ _-]error`, String.raw`terminated|failed to fetch|fetch failed|socket|upstream|connection (?:refused|lost)|getaddrinfo|\be[a-z]*(?:refused|reset|notfound|timedout|again)\b`,
  String.raw`\b(?:timeout|timed out|time out)\b`, String.raw`\b(?:re)?try (?:again (?:later|in\b)|your request)`,
].join('|'), 'i');

export function endpointError(error: unknown): EndpointError {
  if (error instanceof EndpointError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof RequestError)) return new EndpointError(502, 'server_error', 'internal', message);
  const { kind, retryAfterMs } = error;
  const isWorthRetry = WORTH_RETRY.has(kind);
  const [status, type, code] = BY_KIND[kind] ?? [...(isWorthRetry ? PASSING : LASTING), kind.replaceAll('-', '_')];
  const told = isWorthRetry ? message : withoutProviderWords(message, SOUNDS_PASSING, ' (what it said stands in Conductor\'s run)');
  return new EndpointError(status, type, code, told, { retryAfterMs, isWorthRetry, cause: error });
}

/** As OpenAI's clients read it. They try again after 408, 409, 429 and 5xx, but not where a header says that it does not help. */
export function openAiError({ status, message, type, code }: EndpointError): { status: number; body: { error: object } } {
  return { status, body: { error: { message, type, param: null, code } } };
}
