import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerEvent } from './wires/wire-format.ts';

export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';

  constructor(limitBytes: number) {
    super(`The request is larger than ${limitBytes / 1024 / 1024} MB: send less context.`);
  }
}

/**
 * Reads the body of a request. Data after the limit is discarded, so that a client can finish sending and read the response.
 * @throws BodyTooLargeError
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= limitBytes) chunks.push(chunk);
  }
  if (bytes > limitBytes) throw new BodyTooLargeError(limitBytes);
  return Buffer.concat(chunks).toString('utf8');
}

/** Writes events with backpressure. @throws AbortError */
export async function writeEvents(response: ServerResponse, events: readonly ServerEvent[], signal: AbortSignal): Promise<void> {
  const text = events.map(({ event, data }) => {
    const line = `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
    return event === undefined ? line : `event: ${event}\n${line}`;
  });
  if (!response.write(text.join(''))) await once(response, 'drain', { signal });
}
