import { RequestError } from '../../protocol/request-error.ts';

/** An answer that is an error: the status by which clients decide whether to try again, and OpenAI's type of it. */
export class EndpointError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string;

  constructor(status: number, type: string, code: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
    this.code = code;
  }

  /** As OpenAI's clients read it. */
  get body(): object {
    return { error: { message: this.message, type: this.type, param: null, code: this.code } };
  }
}

export const invalid = (message: string, status = 400, code = 'invalid_request'): EndpointError => new EndpointError(status, 'invalid_request_error', code, message);

/** OpenAI's clients try again after 408, 409, 429 and 5xx, but not where the code says that the quota is used up. */
const BY_KIND: Readonly<Record<string, readonly [status: number, type: string, code: string]>> = {
  'unknown-worker': [404, 'invalid_request_error', 'model_not_found'],
  'budget-spent': [402, 'insufficient_quota', 'insufficient_quota'],
  'run-cancelled': [503, 'server_error', 'run_cancelled'],
  'run-removed': [503, 'server_error', 'run_removed'],
  'invalid-request': [400, 'invalid_request_error', 'invalid_request'],
  'context-overflow': [400, 'invalid_request_error', 'context_length_exceeded'],
  'too-large': [413, 'invalid_request_error', 'request_too_large'],
  'rate-limit': [429, 'rate_limit_error', 'rate_limit_exceeded'],
  'overloaded': [503, 'server_error', 'overloaded'],
};

export function endpointError(error: unknown): EndpointError {
  if (error instanceof EndpointError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const [status, type, code] = (error instanceof RequestError ? BY_KIND[error.kind] : undefined) ?? [502, 'server_error', error instanceof RequestError ? error.kind : 'internal'];
  return new EndpointError(status, type, code, message);
}
