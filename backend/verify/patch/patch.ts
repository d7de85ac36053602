/** A whole-file edit. Paths are relative to the workspace, with forward slashes. */
export interface FileEdit {
  readonly path: string;
  readonly kind: 'create' | 'modify' | 'delete';
  /** Null for a file that does not exist. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface RefusedEdit {
  readonly path: string;
  readonly reason: string;
}

/** What an answer would change. */
export interface Patch {
  readonly edits: readonly FileEdit[];
  /** Edits that are ambiguous or dangerous, with the reason in one sentence. A patch with refused edits is never verified. */
  readonly refused: readonly RefusedEdit[];
}
