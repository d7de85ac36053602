/** A whole-file edit. Paths are relative to the workspace, with forward slashes. */
export interface FileEdit {
  readonly path: string;
  readonly kind: 'create' | 'modify' | 'delete';
  /** Null if there is no such file. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface RefusedEdit {
  readonly path: string;
  readonly reason: string;
  /** It may not be made in any form. Otherwise it could not be read: written in another way it may be. */
  readonly isForbidden?: boolean;
  /** A change of tests, of what they read, or of what sets them up, and dangerous in no other way. */
  readonly isOfTests?: boolean;
}

/** The changes of an answer. */
export interface Patch {
  readonly edits: readonly FileEdit[];
  /** Edits that are ambiguous or dangerous, with the reason in one sentence. A patch with refused edits is never verified. */
  readonly refused: readonly RefusedEdit[];
  /** Edits of tests, beside others: the rest is judged, and offered, without them. */
  readonly leftOut?: readonly RefusedEdit[];
}

/**
 * A fix often comes with a test that nobody asked for. Product code does not need it, so it is left out instead of spoiling the fix. An answer
 * that changes nothing but tests stays refused.
 */
export function leaveOutTests({ edits, refused }: Patch): Patch {
  const ofTests = refused.filter(({ isOfTests }) => isOfTests);
  if (edits.length === 0 || ofTests.length === 0) return { edits, refused };
  return { edits, refused: refused.filter(({ isOfTests }) => !isOfTests), leftOut: ofTests };
}
