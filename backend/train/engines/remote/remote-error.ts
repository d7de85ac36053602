/**
 * - `unreachable`: no answer, for longer than is waited
 * - `unclear`: the connection broke, and whether the server did what it was asked is not known
 * - `gone`: the server does not have the session, the model or the weights any more
 * - `conflict`: there is a checkpoint of this name
 * - `full`: no place for another adapter
 * - `key`: the key is missing or refused
 * - `refused`: everything else that the server refuses
 * - `malformed`: an answer that is not one of this API
 */
export type RemoteErrorKind = 'unreachable' | 'unclear' | 'gone' | 'conflict' | 'full' | 'key' | 'refused' | 'malformed';

/** The training server failed, or does not do what it is asked. The message is one sentence that says why and what to do. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';
  readonly kind: RemoteErrorKind;
  /** Of the answer, if there was one. */
  readonly status: number | undefined;

  constructor(kind: RemoteErrorKind, message: string, { status, cause }: { readonly status?: number; readonly cause?: unknown } = {}) {
    super(message, { cause });
    this.kind = kind;
    this.status = status;
  }
}
