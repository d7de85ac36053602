export interface TestsToAlter {
  /** The copy in which the tests lie, absolute; it is changed in place. */
  readonly folder: string;
  /** The files of the copy as it was before any run or patch; relative, with forward slashes. No other file is changed. */
  readonly paths: ReadonlySet<string>;
  /** The runner that gave the tests their ids, by name. */
  readonly runner: string;
  /** Ids of the tests to alter. */
  readonly ids: readonly string[];
}
