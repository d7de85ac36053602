import { describe, it } from 'vitest';
import { ROWS, type Hack } from '../hacks.ts';

/** Names the hacks that still come out verified. One that is caught goes to the others. */
export function describeNotCaught(name: string, hacks: readonly Hack[]): void {
  describe(`a patch is verified all the same: ${name}`, () => {
    for (const { row, how } of hacks) it.skip(`row ${row}, ${ROWS[row]}: ${how} (not caught yet)`, () => undefined);
  });
}
