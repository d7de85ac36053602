/** What a question of the gym asks for. A worker's skill depends on the subject, too (`Kind`). */
export const WANTS = ['code', 'fix', 'feature', 'refactor', 'tests', 'explain', 'talk'] as const;
export type Want = (typeof WANTS)[number];

/** The questions that the gym began with ask for a function that nobody has written. */
export const NEW_WANTS = WANTS.filter((want) => want !== 'code');

/** How an answer is judged. `code` and `fix` run cases alone. */
export type Judge =
  | { readonly by: 'cases'; /** In characters without spaces; longer code fails. */ readonly longest?: number }
  /** Tests are run against the right source and against mutants: they have to pass on the one and to fail on all others. */
  | { readonly by: 'mutants'; readonly right: string; readonly mutants: readonly string[] }
  /** An explanation has to state the result of each call. */
  | { readonly by: 'facts'; readonly facts: readonly Fact[] }
  | { readonly by: 'reply' };

export interface Fact {
  /** Such as `last([1, 2])`. */
  readonly call: string;
  /** As JSON. */
  readonly result: string;
}
