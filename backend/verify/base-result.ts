import type { BaseResult, Place } from '../protocol/run-events.ts';
import { BaseTests, onBase, runnerOf, type BaseTestsOptions, type BaseTestsParts } from './base-tests.ts';
import { placesOfTests } from './control/test-places.ts';
import { WorkspaceCopyError } from './copies/workspace-listing.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import { NothingTestedError } from './judge/imported-elsewhere.ts';
import { failingResults } from './judge/judge.ts';
import { leftOutCount, withLeftOut, type LeavingOut } from './judge/left-out.ts';
import { UnusableRunError } from './judge/test-runs.ts';
import { ID_SEPARATOR, type TestResult } from './runners/test-report.ts';
import { isMachineError } from './sandbox/machine-error.ts';
import { SandboxUnavailableError } from './sandbox/sandbox.ts';

/* What the tests say of the code as it is, for those who are about to change it. */

/** Of more failing tests, the first ones show the cause. */
const MAX_NAMED = 20;

/** @throws the signal's reason */
export async function testBase(parts: BaseTestsParts, options: BaseTestsOptions & LeavingOut): Promise<BaseResult> {
  const { command, signal } = options;
  const started = performance.now();
  try {
    signal.throwIfAborted();
    const chosen = await runnerOf(options);
    if (!chosen) throw new UnusableRunError(unreadableCommand(command));
    const before = withLeftOut(await (await BaseTests.open(parts, options, chosen)).before(), options);
    const ids = failuresOf(before).slice(0, MAX_NAMED).map(({ id }) => id);
    return resultOf(before, await placesIn(parts, options, ids), performance.now() - started);
  } catch (error) {
    signal.throwIfAborted();
    const problem = faultIn(error);
    if (problem === undefined) throw error;
    return { total: 0, failed: 0, flaky: 0, failing: [], problem, durationMs: performance.now() - started };
  }
}

/** @throws WorkspaceCopyError, or the signal's reason */
export async function placesIn(
  parts: BaseTestsParts, options: BaseTestsOptions, ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Place[]>> {
  const chosen = ids.length > 0 ? await runnerOf(options) : undefined;
  if (!chosen) return new Map();
  const { runner } = chosen;
  return await onBase(parts, options, options.signal, (folder, paths) => placesOfTests({ folder, paths, runner, ids }));
}

/** Failing tests, and files and suites that fail by themselves: most fail only because a test in them does. */
function failuresOf({ report, flaky }: BaseRun): readonly TestResult[] {
  const failures = failingResults(report, flaky);
  return failures.filter(({ id, kind }) => kind === 'test' || !failures.some((other) => other.id.startsWith(id + ID_SEPARATOR)));
}

function resultOf(before: BaseRun, places: ReadonlyMap<string, readonly Place[]>, durationMs: number): BaseResult {
  const { report, flaky, leftOut = new Set() } = before;
  const failures = failuresOf(before);
  return {
    total: report.results.filter(({ id, kind, status }) => kind === 'test' && status !== 'skipped' && !leftOut.has(id)).length + failures.filter(({ kind }) => kind !== 'test').length,
    failed: failures.length,
    flaky: flaky.size - leftOut.size,
    ...(leftOut.size > 0 && { leftOut: leftOutCount(before) }),
    failing: failures.slice(0, MAX_NAMED).map(({ id, message }) => ({
      id, ...(message !== undefined && { message }), places: [...(places.get(id) ?? [])],
    })),
    durationMs,
  };
}

/** Why tests gave no result, if the tests or the machine are to blame. */
export function faultIn(error: unknown): string | undefined {
  if ([SandboxUnavailableError, WorkspaceCopyError, UnusableRunError, NothingTestedError].some((kind) => error instanceof kind)) return (error as Error).message;
  return isMachineError(error) ? `The tests could not be run: ${error.message}` : undefined;
}

export const unreadableCommand = (command: string): string =>
  `The results of "${command}" cannot be read: there is no test runner of the name that is given.`;
