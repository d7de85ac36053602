import type { KnownJudgingFiles } from './closure/judging-files.ts';
import { addsTests } from './patch/added-tests.ts';
import { applyPatch } from './patch/apply-patch.ts';
import type { Patch, RefusedEdit } from './patch/patch.ts';
import { BaseTests, runnerOf, type BaseTestsOptions, type BaseTestsParts } from './base-tests.ts';
import { faultIn, unreadableCommand } from './base-result.ts';
import { protectedReason } from './files/protected-paths.ts';
import type { TestResult } from './runners/test-report.ts';

/** What the tests say of a change that is not finished: results, and no verdict. */
export interface TriedTests {
  readonly results: readonly TestResult[];
  /** Null if the command did not end by itself. */
  readonly exitCode: number | null;
  /** The end of what the command printed. */
  readonly said: string;
  /** Why there are no results, if there are none. */
  readonly problem?: string;
  /** Edits without which the tests ran: no answer may make them. */
  readonly forbidden?: readonly RefusedEdit[];
}

export interface TryTestsOptions extends BaseTestsOptions {
  readonly patch: Pick<Patch, 'edits'>;
  /** Edits that add tests may be among them. */
  readonly newTests?: boolean;
}

/**
 * Runs the tests once with a change, on a clean copy of the workspace. A fault of the change, the tests or the machine is a result, too.
 * Throws PatchNotApplicableError if the change does not fit the workspace any more, or the signal's reason.
 */
export async function tryTests(parts: BaseTestsParts, judges: KnownJudgingFiles, { patch, newTests = false, ...options }: TryTestsOptions): Promise<TriedTests> {
  const { base, command, signal } = options;
  const without = (problem: string): TriedTests => ({ results: [], exitCode: null, said: '', problem });
  try {
    const chosen = await runnerOf(options);
    if (!chosen) return without(unreadableCommand(command));
    const { configuration } = chosen.runner;
    const tests = await BaseTests.open(parts, options, chosen);
    const forbidden: RefusedEdit[] = [];
    await parts.copies.onFiles(tests.snapshot, async (files) => {
      const judging = judges.of(files, { command: tests.chosen.command, configuration }, options.installed ?? base);
      for (const edit of patch.edits) {
        const reason = newTests && (await addsTests(edit, configuration)) ? undefined : (protectedReason(edit.path, configuration) ?? (await judging.whyItJudges(edit)));
        if (reason !== undefined) forbidden.push({ path: edit.path, reason });
      }
    });
    const edits = patch.edits.filter(({ path }) => !forbidden.some((edit) => edit.path === path));
    const { report, exitCode, said } = await tests.runs.run(async (copy) => {
      await tests.makeBase(copy);
      await applyPatch(copy, { edits }, { tests: newTests ? 'new' : 'none' });
    });
    return { results: report.results, exitCode, said, ...(forbidden.length > 0 && { forbidden }) };
  } catch (error) {
    signal.throwIfAborted();
    const problem = faultIn(error);
    if (problem === undefined) throw error;
    return without(problem);
  }
}
