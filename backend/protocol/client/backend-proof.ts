import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/*
 * How a client knows that who answers at the record's port is the backend that wrote the record. A backend that was killed leaves
 * its record behind, and whoever listens on that port next, another user's process for one, could ask the client for keys. So the
 * client sends a challenge, and the backend shows that it knows the token without saying it.
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
