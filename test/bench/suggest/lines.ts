/** A line that uses a name whose only definition is in another file of its project. Lines and columns count from 0. */
export interface Line {
  readonly repository: string;
  readonly commit: string;
  readonly language: string;
  readonly path: string;
  readonly line: number;
  /** Where the name begins. */
  readonly column: number;
  readonly name: string;
  readonly definition: { readonly path: string; readonly line: number };
}
