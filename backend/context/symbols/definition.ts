export type SymbolKind = 'function' | 'method' | 'class' | 'type' | 'variable' | 'module';

/** Where a name is defined. Lines count from 1, both ends included, with the comments and decorators above the definition. */
export interface Definition {
  readonly name: string;
  readonly kind: SymbolKind;
  /** Relative to the workspace, forward slashes. */
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  /** The line that has the name. */
  readonly line: number;
  /** The definition without its body, on one line. */
  readonly signature: string;
}
