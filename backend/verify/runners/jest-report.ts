import * as z from 'zod';
import { ReportError, type TestReport } from './test-report.ts';
import { ResultCollector, relativeFile, unreadable } from './report-file.ts';

/** The parts that we use of the report of `jest --json`. vitest's `json` reporter has the same form. */
const reportSchema = z.object({
  numTotalTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().nullish(),
      assertionResults: z.array(
        z.object({
          ancestorTitles: z.array(z.string()),
          title: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
          duration: z.number().nullish(),
        }),
      ),
    }),
  ),
});

/** Throws `ReportError`. */
export function parseJestReport(text: string, copy: string): TestReport {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ReportError('The report ends before the tests did, or is none.');
  }
  const parsed = reportSchema.safeParse(value);
  if (!parsed.success) throw unreadable(text);
  const collector = new ResultCollector(copy);
  // Test files run in parallel and end in any order.
  const files = [...parsed.data.testResults].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, status, message, assertionResults } of files) {
    const file = relativeFile(name, copy);
    for (const test of assertionResults) {
      collector.add({
        kind: 'test',
        status: statusOf(test.status),
        path: [file, ...test.ancestorTitles, test.title],
        message: test.failureMessages?.join('\n'),
        durationMs: test.duration ?? undefined,
      });
    }
    // A file also fails if it cannot be loaded or one of its hooks fails.
    const hasFailedByItself = status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
    if (hasFailedByItself || assertionResults.length === 0)
      collector.add({ kind: 'container', status: statusOf(status), path: [file], message: message ?? undefined });
  }
  return { results: collector.results };
}

/** `pending`, `todo`, `disabled`, `focused`, and `skipped` did not run. */
const statusOf = (status: string): 'passed' | 'failed' | 'skipped' =>
  status === 'passed' || status === 'failed' ? status : 'skipped';
