import type { Served } from './served.ts';

/** The formats of the endpoint, for what holds in all of them alike. */
export interface Format {
  readonly name: string;
  readonly path: string;
  readonly ask: (question: string, more?: object) => object;
  /** Where an error's type stands. */
  readonly typeIn: (body: { error?: { type?: string } }) => string | undefined;
}

const user = (content: string) => [{ role: 'user', content }];
export const FORMATS: readonly Format[] = [
  { name: 'Chat Completions', path: '/v1/chat/completions', ask: (question, more) => ({ model: 'first', messages: user(question), ...more }), typeIn: ({ error }) => error?.type },
  { name: 'Responses', path: '/v1/responses', ask: (question, more) => ({ model: 'first', input: user(question), ...more }), typeIn: ({ error }) => error?.type },
  { name: 'Messages', path: '/v1/messages', ask: (question, more) => ({ model: 'first', max_tokens: 100, messages: user(question), ...more }), typeIn: ({ error }) => error?.type },
];

export interface Sent {
  readonly key?: string;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}
/** @param body as it is if it is text */
export async function post(place: Served, path: string, body: object | string | Uint8Array<ArrayBuffer>, { key = place.key, signal, headers = {} }: Sent = {}): Promise<Response> {
  const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  return await fetch(`${place.url}${path}`, { method: 'POST', headers: { 'authorization': `Bearer ${key}`, 'content-type': 'application/json', ...headers }, body: sent, ...(signal && { signal }) });
}
