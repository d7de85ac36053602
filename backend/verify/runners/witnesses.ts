import * as z from 'zod';
import { idOf, relativeFile } from './report-file.ts';
import { ID_SEPARATOR, ReportError, type TestReport } from './test-report.ts';

/** What `witness-guard.ts` writes besides the report: files that were given to workers, and tests that workers saw to the end. */
export const witnessEvents = [
  z.object({ type: z.literal('given'), file: z.string() }),
  /** A worker sees the tests of this file, or of all files. Without it, this version of the runner is not understood. */
  z.object({ type: z.literal('watched'), file: z.string().optional() }),
  /** A compiler judges files of tests, too, with tests of other names in the same files. */
  z.object({ type: z.literal('compiled') }),
  z.object({
    type: z.literal('ran'),
    worker: z.string(),
    /** The test, by a number in its worker. A test may run again, and its last run counts. */
    test: z.number(),
    file: z.string().optional(),
    /** From the test's own name outwards. */
    path: z.array(z.string()).max(200),
    passed: z.boolean(),
  }),
] as const;
export type WitnessEvent = z.infer<(typeof witnessEvents)[number]>;

export interface Seen {
  passed: number;
  failed: number;
}

/** How the tests ended that workers saw, by id. Tests of one id are counted. */
export function testsSeen(events: readonly WitnessEvent[], copy: string): ReadonlyMap<string, Seen> {
  const last = new Map<string, { readonly id: string; readonly passed: boolean }>();
  for (const event of events) {
    if (event.type !== 'ran') continue;
    const id = seenId([event.file === undefined ? undefined : relativeFile(event.file, copy), ...event.path.toReversed()]);
    last.set(`${event.worker} ${event.test}`, { id, passed: event.passed });
  }
  return counted([...last.values()]);
}

/**
 * Throws `ReportError` if the report says other things than the workers saw: a test passed whose function failed, or that did not run in the
 * worker that was given its file. What runs elsewhere (in a browser, or in a compiler) has no witness, and nothing is asked of it.
 */
export function checkWitnesses(events: readonly WitnessEvent[], { results }: TestReport, copy: string): void {
  const seen = testsSeen(events, copy);
  const files = (type: 'given' | 'watched'): ReadonlySet<string> =>
    new Set(events.flatMap((event) => (event.type === type && event.file !== undefined ? [relativeFile(event.file, copy)] : [])));
  const given = files('given');
  const watched = files('watched');
  const isCompiled = events.some(({ type }) => type === 'compiled');
  const areAllWatched = events.some((event) => event.type === 'watched' && event.file === undefined);
  const reported = counted(
    results.filter(({ kind }) => kind === 'test').map(({ id, status }) => ({ id: unnumbered(id), passed: status === 'passed' })),
  );
  for (const [id, { passed, failed }] of reported) {
    const file = id.split(ID_SEPARATOR)[0] ?? '';
    const isSeen = !isCompiled && given.has(file) && (areAllWatched || watched.has(file));
    const by = seen.get(id);
    if (passed > 0 && ((by?.failed ?? 0) > failed || (isSeen && (by?.passed ?? 0) === 0))) throw notSeen(id);
  }
}

/** The id of a test in `testsSeen`. */
export const seenId = (parts: Parameters<typeof idOf>[0]): string => unnumbered(idOf(parts));

export const notSeen = (test: string): ReportError =>
  new ReportError(`A test was reported as passed that did not pass where it ran: ${test}.`);

function counted(tests: readonly { readonly id: string; readonly passed: boolean }[]): Map<string, Seen> {
  const counts = new Map<string, Seen>();
  for (const { id, passed } of tests) {
    const count = counts.get(id) ?? { passed: 0, failed: 0 };
    count[passed ? 'passed' : 'failed'] += 1;
    counts.set(id, count);
  }
  return counts;
}

/** Tests with one name are numbered in a report, in another order than they may have run in. */
const unnumbered = (id: string): string => id.replace(/ \(\d+\)$/, '');
