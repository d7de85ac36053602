/** The error codes of JSON-RPC, and the Language Server Protocol's code for a cancelled request. */
export const RPC_CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  requestCancelled: -32_800,
  /** Never on the wire: the request could not be sent, or the connection ended before its answer. */
  notSent: -32_099,
  disconnected: -32_097,
} as const;

export interface RequestErrorData {
  /** A JSON-RPC code, or one of `ERROR_CODES` in methods.ts. */
  readonly code: number;
  /** Class of the failure, such as `not-found` or `invalid-params`. Code decides by it. */
  readonly kind: string;
  /** One sentence for people. */
  readonly message: string;
  /** After this time it may be granted, where that is known. */
  readonly retryAfterMs?: number | undefined;
}

/** A request that the other end refused, could not answer, or never received. The connection stays usable unless it is closed. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: number;
  readonly kind: string;
  readonly retryAfterMs: number | undefined;

  constructor({ code, kind, message, retryAfterMs }: RequestErrorData) {
    super(message);
    this.code = code;
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether the other end refused, and the connection stays usable. */
export function isRefusal(error: unknown): error is RequestError {
  return error instanceof RequestError && error.kind !== 'disconnected';
}
