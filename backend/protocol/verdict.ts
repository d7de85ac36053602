import * as z from 'zod';

export const testStatusSchema = z.enum(['passed', 'failed', 'skipped', 'missing']);
export type TestStatus = z.infer<typeof testStatusSchema>;

export const testChangeSchema = z.object({
  /** Stable between runs: file, suites and name. */
  id: z.string(),
  before: testStatusSchema,
  after: testStatusSchema,
  /** What the test said when it failed after the patch, cut short. */
  message: z.string().optional(),
  /** It ended otherwise in another run of the same code, and is left out of the verdict. */
  flaky: z.boolean().optional(),
  durationMs: z.number().nonnegative().optional(),
});
export type TestChange = z.infer<typeof testChangeSchema>;

/**
 * What the project's tests said of a patch. `infrastructure` means that nothing was learned (no sandbox, no runner): it is neither a
 * pass nor a failure and never becomes a reward. `refused` means that there was nothing to prove, or the patch was not admissible.
 */
export const verdictSchema = z.object({
  verified: z.boolean(),
  /** Share of failing tests mended times share of passing tests kept, 0 to 1. */
  score: z.number().min(0).max(1),
  outcome: z.enum(['verified', 'failed', 'refused', 'infrastructure']),
  reason: z.string(),
  tests: z.array(testChangeSchema).readonly(),
  /** What people should know beside the reason, a sentence each: tests left out, edits left out, a check that could not be made. */
  notes: z.array(z.string()).readonly().default([]),
  command: z.string(),
  /** The runner whose report was read. */
  runner: z.string().optional(),
  sandboxed: z.boolean(),
  durationMs: z.number().nonnegative(),
  /** A command line that would have let the tests run, where one is known: for people to copy. */
  remedy: z.string().optional(),
});
export type Verdict = z.infer<typeof verdictSchema>;
