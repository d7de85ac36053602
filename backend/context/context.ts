/** A place in a file: path relative to the workspace, lines from 1, both ends included. */
export interface FileRange {
  readonly path: string;
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
}

/** A place with the reason for it, in a few words. */
export interface LearnedPlace extends FileRange {
  readonly reason: string;
}

export interface ContextRequest {
  readonly question: string;
  /** Absolute path. Without a workspace the context has only diagnostics and test output. */
  readonly workspace?: string | undefined;
  readonly files: readonly FileRange[];
  readonly selection?: FileRange | undefined;
  readonly openFile?: FileRange | undefined;
  readonly diagnostics: readonly { path: string; line: number; severity: 'error' | 'warning'; message: string }[];
  readonly testOutput?: string | undefined;
  /** Places that the work so far points at, the most important first. What their code names leads the search. */
  readonly learned?: readonly LearnedPlace[];
  /** What tests and models say about the code. The places and names in it lead the search; the text itself is not sent. */
  readonly clues?: string;
  /** Files that were sent before and not used. They come last. */
  readonly unused?: readonly string[];
  /** Upper bound for `text`, in estimated tokens. */
  readonly tokenBudget: number;
  readonly signal: AbortSignal;
}

/** One piece of the workspace that is sent with a question, and the reason. */
export interface ContextPiece {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly reason: string;
  readonly tokens: number;
}

export interface GatheredContext {
  readonly pieces: readonly ContextPiece[];
  /** What was requested but is not sent: ignored, secret, not text, too large, over the budget. */
  readonly leftOut: readonly { path: string; reason: string }[];
  readonly tokens: number;
  /** The exact text sent to the models. */
  readonly text: string;
  /** The main languages of the workspace; absent without one. */
  readonly languages?: readonly string[];
}
