import type { TestRunner } from '../runners/test-runner.ts';

export interface TestsToAlter {
  /** The folder of the copy with the tests, absolute. */
  readonly folder: string;
  /** The files of the copy before any run or patch, relative, with forward slashes. Other files are never changed. */
  readonly paths: ReadonlySet<string>;
  /** The runner that gave the tests their ids. */
  readonly runner: Pick<TestRunner, 'name' | 'idRoot'>;
  /** Ids of the tests to alter. */
  readonly ids: readonly string[];
  /**
   * Ids of all tests that run. If they are given, nothing outside of the tests to alter is altered, on which others may rely. All rows of a table
   * have one body, so the other rows of an altered one are named as altered, too.
   */
  readonly among?: readonly string[];
}
