import type { Edit } from '../syntax/edits.ts';

/** A way to make an assertion fail with honest code. */
export interface Alteration {
  readonly edits: readonly Edit[];
  /** Whether another value is expected. Otherwise the opposite is, which also fails for a value that equals everything. */
  readonly isByValue: boolean;
}

export const byValue = (edits: readonly Edit[] | undefined): Alteration | undefined => edits && { edits, isByValue: true };
export const opposite = (...edits: readonly Edit[]): Alteration => ({ edits, isByValue: false });
