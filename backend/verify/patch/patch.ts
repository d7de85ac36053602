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
}

/** The changes of an answer. */
export interface Patch {
  readonly edits: readonly FileEdit[];
  /** Edits that are ambiguous or dangerous, with the reason in one sentence. A patch with refused edits is never verified. */
  readonly refused: readonly RefusedEdit[];
}
