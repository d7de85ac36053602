import type { EditSummary } from '../protocol/run-events.ts';
import type { FoundTests, TestCommand } from '../protocol/test-command.ts';
import type { Verdict } from '../protocol/verdict.ts';
import type { Patch } from '../verify/patch/patch.ts';
import { unifiedDiff } from '../verify/patch/unified-diff.ts';

/** What solving needs of `verify`: from an answer to a patch, and from a patch to a verdict. */
export interface Checker {
  /** Every way to run the workspace's tests that its files show, the likeliest first. */
  findTestCommands(workspace: string): Promise<readonly FoundTests[]>;
  /** The runner that reads the results of a command, or undefined where nothing could judge by them. */
  runnerOf(test: TestCommand, workspace: string): Promise<string | undefined>;
  /** Of containers of an `image` where there is one. `remedy`: a command line for the person that brings what is missing, where one is known. */
  sandboxAvailability(image?: string): Promise<{ available: boolean; reason?: string | undefined; remedy?: string | undefined }>;
  /** `shown`: paths of the files that the question was sent with, for an answer that does not say which file it is. */
  parsePatch(answer: string, workspace: string, shown: readonly string[]): Promise<Patch>;
  verify(request: TestCommand & {
    readonly base: string;
    readonly patch: Patch;
    readonly sandboxed: boolean;
    readonly signal: AbortSignal;
  }): Promise<Verdict>;
}

/** A diff in the journal and in the panel is for reading; a longer one is cut. The edit itself is worked out again when applied. */
const MAX_DIFF_LENGTH = 100_000;

export function editSummaries({ edits }: Patch): EditSummary[] {
  return edits.map((edit) => {
    const diff = unifiedDiff(edit);
    return {
      path: edit.path,
      kind: edit.kind,
      diff: diff.length > MAX_DIFF_LENGTH ? `${diff.slice(0, MAX_DIFF_LENGTH)}\n[… the diff goes on …]\n` : diff,
    };
  });
}
