import type { BaseTestsOptions } from './base-tests.ts';
import type { FoundTests } from './runners/find-tests.ts';
import type { Patch } from './patch/patch.ts';

export interface VerifyOptions extends BaseTestsOptions {
  readonly patch: Patch;
  /**
   * How to treat edits of protected files: tests, their data, and their configuration. An answer with such an edit is refused. From a
   * person's change these edits are left out, and the rest is judged.
   */
  readonly protectedEdits?: 'refuse' | 'leave out';
  /**
   * What to do where no test failed before: refuse the patch, or run the tests with it. Then it passes at most, since nothing shows that it
   * mends anything. Refused by default.
   */
  readonly nothingFailed?: 'refuse' | 'run';
  /**
   * Tests are asked for, and a patch may add some, in files of their own or to those that are there. `alone`: nothing else is asked for, so nothing is verified. `beside` another change:
   * that is judged without them, and then with them. If one of them is red, the patch has failed. If no test failed before, it passes at most.
   */
  readonly newTests?: 'alone' | 'beside' | undefined;
  /** Ids of the fail-to-pass tests. By default, the tests that failed before. */
  readonly targets?: readonly string[];
  /**
   * The tests of `base` are already those of the change; these files of them it changed. Whatever judges stays as the change has it, tests inside of
   * sources too, and the code before the change need not fit its tests. If any test was changed, the patch passes at most. The patch may be empty.
   */
  readonly ownTests?: readonly string[];
  /** Whether the reason tells of changed files that the tests do not run. It takes a run more where every test ends as before. True by default. */
  readonly tellsNotRun?: boolean;
  /** The tests that were found in the workspace, if `command` is one of them. Those of other packages that the patch changes count by their exit codes. */
  readonly packages?: readonly FoundTests[];
  /** Further commands of which the exit code counts, such as the one that runs the tests of all `packages`. Where that is red before and with the patch, the tests of each are run. */
  readonly besides?: readonly string[];
}
