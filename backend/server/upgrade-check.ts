import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface Refusal {
  readonly status: 401 | 403;
  /** One sentence. */
  readonly message: string;
}

const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;

/**
 * Decides whether to refuse a WebSocket. Web pages are never clients: browsers send `Origin` with every WebSocket, and a page that
 * resolves its own host name to this machine (DNS rebinding) is recognised by `Host`.
 */
export function refuseUpgrade({ headers }: Pick<IncomingMessage, 'headers'>, token: string): Refusal | undefined {
  if (headers.origin !== undefined) return { status: 403, message: 'Web pages cannot connect to the Conductor backend.' };
  if (!LOOPBACK_HOST.test(headers.host ?? '')) {
    return { status: 403, message: 'The Conductor backend can be reached at 127.0.0.1 only.' };
  }
  const [, given] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
  if (given === undefined || !sameSecret(given, token)) {
    return { status: 401, message: 'The token is missing or wrong: read it from backend.json in the Conductor home folder.' };
  }
  return undefined;
}

/** Compares in constant time. Hashing first gives both the same length, which `timingSafeEqual` requires. */
function sameSecret(a: string, b: string): boolean {
  const [hashA, hashB] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(hashA as Buffer, hashB as Buffer);
}
