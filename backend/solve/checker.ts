import type { BaseResult, EditSummary, Place } from '../protocol/run-events.ts';
import type { FoundTests, LikelyCommand, TestCommand } from '../protocol/test-command.ts';
import type { Verdict } from '../protocol/verdict.ts';
import type { Base } from '../verify/base-tests.ts';
import type { HeldFiles } from '../verify/copies/held-files.ts';
import type { LeavingOut } from '../verify/judge/left-out.ts';
import type { Patch } from '../verify/patch/patch.ts';
import { unifiedDiff } from '../verify/patch/unified-diff.ts';
import type { TriedTests } from '../verify/try-tests.ts';

/** What solving needs from `verify`: a patch from an answer, and a verdict from a patch. */
export interface Checker {
  /** The ways to run the workspace's tests that its files suggest, the most likely first. */
  findTestCommands(workspace: string): Promise<readonly FoundTests[]>;
  /** The tests of packages that a command runs by itself, such as `turbo run test`. Absent where no command is named by a person. */
  testsRunBy?(command: string, workspace: string): Promise<readonly FoundTests[]>;
  /** The commands that may be one where none is found, for people to choose from. */
  likelyCommands?(workspace: string): Promise<readonly LikelyCommand[]>;
  /** The runner that reads the results of a command, or undefined where no runner can. */
  runnerOf(test: TestCommand, workspace: string): Promise<string | undefined>;
  /** For containers if an `image` is given. `remedy`: a command line that installs what is missing, if one is known. */
  sandboxAvailability(image?: string): Promise<{ available: boolean; reason?: string | undefined; remedy?: string | undefined }>;
  /**
   * `shown`: paths of the files that the question was sent with, for answers that name no file.
   * `newTests`: the question asks for tests, so files with new ones are edits like others.
   */
  parsePatch(answer: string, workspace: string, shown: readonly string[], asks?: { readonly newTests: boolean }): Promise<Patch>;
  /** Holds the files of a workspace as they are now. Absent where they do not change, as in a training. @throws the signal's reason, and where it cannot be copied */
  hold?(workspace: string, signal: AbortSignal): Promise<HeldFiles>;
  /** Calls `use` with a private copy of a base. Absent where no base differs from its folder. Throws as `Verifier.onBase`. */
  onBase?<Result>(base: Base, signal: AbortSignal, use: (folder: string) => Promise<Result>): Promise<Result>;
  verify(request: TestCommand & Base & LeavingOut & {
    readonly patch: Patch;
    /** Tests are asked for, alone or beside another change. */
    readonly newTests?: 'alone' | 'beside' | undefined;
    /** Where no test failed before, the tests are run all the same: they may show that something breaks. */
    readonly nothingFailed?: 'run';
    readonly sandboxed: boolean;
    readonly signal: AbortSignal;
  }): Promise<Verdict>;
  /**
   * Runs the tests of the workspace as it is, or with edits; `verify` uses the results. Absent where what fails is known already, as in a training.
   * @throws the signal's reason
   */
  testBase?(request: TestCommand & Base & LeavingOut & { readonly sandboxed: true; readonly signal: AbortSignal }): Promise<BaseResult>;
  /**
   * Runs the tests once with the change of a step; see `tryTests` of `verify`. Absent where no change can be tried.
   * @throws PatchNotApplicableError, or the signal's reason
   */
  tryTests?(request: TestCommand & Base & {
    readonly patch: Pick<Patch, 'edits'>; readonly newTests: boolean; readonly timeoutMs: number; readonly signal: AbortSignal;
  }): Promise<TriedTests>;
  /** Where the sources of tests are, by id, as far as they are found. */
  placesOf?(ids: readonly string[], request: TestCommand & Base & { readonly signal: AbortSignal }): Promise<ReadonlyMap<string, readonly Place[]>>;
}

/** Longer diffs are cut in the journal and the panel, where they are only read. Applying computes the edit anew. */
const MAX_DIFF_LENGTH = 100_000;
const CUT = '\n[… the diff goes on …]\n';

/** @param options `whole`: no diff is cut, for an answer that is applied from its diffs */
export function editSummaries({ edits }: Pick<Patch, 'edits'>, { whole = false } = {}): EditSummary[] {
  return edits.map((edit) => {
    const diff = unifiedDiff(edit);
    return { path: edit.path, kind: edit.kind, diff: diff.length > MAX_DIFF_LENGTH && !whole ? diff.slice(0, MAX_DIFF_LENGTH) + CUT : diff };
  });
}

export const isCutDiff = (diff: string): boolean => diff.endsWith(CUT);
