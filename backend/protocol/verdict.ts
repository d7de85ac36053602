import * as z from 'zod';
import { toolVersionSchema } from './tool-version.ts';

export const testStatusSchema = z.enum(['passed', 'failed', 'skipped', 'missing']);
export type TestStatus = z.infer<typeof testStatusSchema>;

export const testChangeSchema = z.object({
  /** Stable between runs: file, suites and name. */
  id: z.string(),
  before: testStatusSchema,
  after: testStatusSchema,
  /** The failure message after the patch, truncated. */
  message: z.string().optional(),
  /** Two runs of the same code ended differently. A flaky test does not count. */
  flaky: z.boolean().optional(),
  /** It failed before the change, and a person left it out: it counts neither for the change nor against it. */
  leftOut: z.boolean().optional(),
  durationMs: z.number().nonnegative().optional(),
});
export type TestChange = z.infer<typeof testChangeSchema>;

/**
 * The result of a patch on the project's tests. `verified`: the tests pass, and the negative control shows that they would notice a wrong
 * answer. `passes`: the tests pass, but nothing shows that; the reason says why. It is never called verified, and in training it earns no
 * more than a wrong answer by default. `infrastructure`: the tests gave no result (no sandbox, no runner, a timeout before the patch). It
 * is neither a pass nor a failure and never becomes a reward. `refused`: nothing to prove, or the patch may not be applied.
 */
export const verdictSchema = z.object({
  /** True only with the outcome `verified`. */
  verified: z.boolean(),
  /** The fail-to-pass rate times the pass-to-pass rate, 0 to 1. */
  score: z.number().min(0).max(1),
  outcome: z.enum(['verified', 'passes', 'failed', 'refused', 'infrastructure']),
  reason: z.string(),
  tests: z.array(testChangeSchema).readonly(),
  /** Further facts, one sentence each: tests or edits that were left out, a check that could not be made. */
  notes: z.array(z.string()).readonly().default([]),
  command: z.string(),
  /** The runner whose report was read. */
  runner: z.string().optional(),
  /** The programs that the tests ran with. Absent where they ran in a container, with what its image has. */
  tools: z.array(toolVersionSchema).readonly().optional(),
  sandboxed: z.boolean(),
  durationMs: z.number().nonnegative(),
  /** A command line that would make the tests run here, if known. */
  remedy: z.string().optional(),
});
export type Verdict = z.infer<typeof verdictSchema>;
