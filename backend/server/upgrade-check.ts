import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface Refusal {
  readonly status: 401 | 403;
  /** One sentence. */
  readonly message: string;
}

const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;

/**
 * Whether whoever asks for a WebSocket may have one. A page in a browser is never a client: browsers send `Origin` with every
 * WebSocket, and a page that points its own host name at this machine gives itself away by `Host`.
 */
export function refuseUpgrade({ headers }: Pick<IncomingMessage, 'headers'>, token: string): Refusal | undefined {
  if (headers.origin !== undefined) return { status: 403, message: 'Web pages cannot connect to the Conductor backend.' };
  if (!LOOPBACK_HOST.test(headers.host ?? '')) {
    return { status: 403, message: 'The Conductor backend is reached by 127.0.0.1 only.' };
  }
  const [, given] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
  if (given === undefined || !sameSecret(given, token)) {
    return { status: 401, message: 'The token is missing or wrong: read it from backend.json in the Conductor home folder.' };
  }
  return undefined;
}

/** Takes the same time wherever the two differ; hashing first makes them equally long, as the comparison wants them. */
function sameSecret(a: string, b: string): boolean {
  const [hashA, hashB] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(hashA as Buffer, hashB as Buffer);
}
