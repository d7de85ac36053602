import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/*
 * Proves to a client that the server at the record's port wrote the record. A killed backend leaves its record behind. Another process, even
 * of another user, could then listen on that port and ask the client for keys. So the client sends a challenge, and the backend proves that
 * it knows the token without sending it.
 */

export const CHALLENGE_HEADER = 'conductor-challenge';
export const PROOF_HEADER = 'conductor-proof';

export function newChallenge(): string {
  return randomBytes(32).toString('base64url');
}

export function proofOf(token: string, challenge: string): string {
  return createHmac('sha256', token).update(`conductor backend ${challenge}`).digest('base64url');
}

export function isProof(given: unknown, token: string, challenge: string): boolean {
  const expected = Buffer.from(proofOf(token, challenge));
  const found = Buffer.from(typeof given === 'string' ? given : '');
  return found.length === expected.length && timingSafeEqual(found, expected);
}
