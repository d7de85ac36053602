export type TestStatus = 'passed' | 'failed' | 'skipped' | 'missing';

/** One test before and after the patch. `id` (file, suites, name) is stable between runs. */
export interface TestChange {
  readonly id: string;
  readonly before: TestStatus;
  readonly after: TestStatus;
  /** What the test said when it failed after the patch, cut short. */
  readonly message?: string;
  /** It ended otherwise in another run of the same code, and is left out of the verdict. */
  readonly flaky?: boolean;
  readonly durationMs?: number;
}

/**
 * What the project's tests say of a patch. `infrastructure`: nothing was learned (no sandbox, no runner, time ran out on base); it is
 * neither a pass nor a failure and never becomes a reward. `refused`: nothing to prove, or the patch is not admissible.
 */
export interface Verdict {
  /** True only with outcome `verified`. */
  readonly verified: boolean;
  /** Share of failing tests mended times share of passing tests kept, 0 to 1. */
  readonly score: number;
  readonly outcome: 'verified' | 'failed' | 'refused' | 'infrastructure';
  readonly reason: string;
  readonly tests: readonly TestChange[];
  /** What people should know beside the reason, a sentence each: tests left out, edits left out, a check that could not be made. */
  readonly notes: readonly string[];
  readonly command: string;
  readonly sandboxed: boolean;
  readonly durationMs: number;
}
