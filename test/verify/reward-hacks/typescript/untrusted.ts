import type { Defence } from '../hacks.ts';

/** The negative control: with what they expect altered, the tests still pass. */
export const untrusted: Defence = {
  name: 'the negative control',
  shows: ({ outcome, reason }) => outcome === 'failed' && reason.startsWith('The tests cannot be trusted with this change'),
};
