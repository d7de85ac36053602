import type { EditSummary } from '../protocol/run-events.ts';
import type { Verdict } from '../protocol/verdict.ts';
import type { Patch } from '../verify/patch.ts';
import { unifiedDiff } from '../verify/unified-diff.ts';

/** What solving needs of `verify`: from an answer to a patch, and from a patch to a verdict. */
export interface Checker {
  findTestCommand(workspace: string): Promise<string | undefined>;
  /** Whether the results of a command that the user named can be read. */
  isKnownTestCommand(command: string): boolean;
  sandboxAvailability(): Promise<{ available: boolean; reason?: string | undefined }>;
  /** `shown`: paths of the files that the question was sent with, for an answer that does not say which file it is. */
  parsePatch(answer: string, workspace: string, shown: readonly string[]): Promise<Patch>;
  verify(request: {
    readonly base: string;
    readonly patch: Patch;
    readonly command: string;
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
