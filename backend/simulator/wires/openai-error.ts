import type { ErrorKind } from './wire-format.ts';

const CODES: Readonly<Record<ErrorKind, string>> = {
  'invalid-request': 'invalid_request',
  unauthorized: 'invalid_api_key',
  'not-found': 'model_not_found',
  'too-large': 'request_too_large',
  internal: 'internal_error',
};

/** The shape of an error in OpenAI's formats. */
export function openAiError(kind: ErrorKind, message: string): unknown {
  const type = kind === 'internal' ? 'server_error' : 'invalid_request_error';
  return { error: { message, type, param: null, code: CODES[kind] } };
}
