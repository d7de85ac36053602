import type { ExceededLimit } from '../sandbox/process-group.ts';

/** Begins the reason of a run that was stopped by its time limit. */
export const OUT_OF_TIME = 'The tests did not end within';

/** Why a run was stopped. */
export function exceededText(limit: ExceededLimit, timeoutMs: number): string {
  switch (limit) {
    case 'time':
      return `${OUT_OF_TIME} ${Math.round(timeoutMs / 1_000)} s.`;
    case 'memory':
      return 'The tests used more memory than allowed.';
    case 'processes':
      return 'The tests started more processes than allowed.';
    case 'disk':
      return 'The tests wrote more to the disk than allowed.';
    case 'output':
      return 'The tests printed more than allowed.';
  }
}
