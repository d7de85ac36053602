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

/** What one file takes from another. */
export interface Import {
  /** As written: `./a.js`, `pkg.module`, `crate::a::b`. */
  readonly from: string;
  /** The names it takes, and what it calls them. Empty where the whole module is taken. */
  readonly names: readonly { readonly name: string; readonly as: string }[];
  /** Whether the file also hands these names on, as `export … from` does. */
  readonly passedOn: boolean;
}
