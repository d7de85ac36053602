import { counted } from '../common/counted.ts';
import type { TriedTests } from '../verify/try-tests.ts';

const MAX_FAILED = 20;
const MAX_PASSED = 60;

/** Which tests pass and which fail, with what those say. @param whose change was tried, as the reader is told */
export function testsInWords({ results, exitCode, said, problem, forbidden = [] }: TriedTests, whose: 'your' | 'its' = 'your'): string {
  if (problem !== undefined) return `The tests gave no results: ${problem}`;
  const tests = results.filter(({ kind }) => kind === 'test');
  const { passed, failed } = passedAndFailed(results);
  const skipped = tests.filter(({ status }) => status === 'skipped').length;
  const ended = exitCode === 0 ? '' : ` The command ended ${exitCode === null ? 'by a signal' : `with exit code ${exitCode}`}.`;
  return [
    `${counted(passed.length, 'test')} passed, ${failed.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}.${ended}`,
    ...forbidden.map(({ path, reason }) => `Tried without ${whose} change of ${path}, which no answer may make: ${reason}`),
    ...failed.slice(0, MAX_FAILED).map(({ id, message }) => `FAILED ${id}${message ? `\n  ${message.replaceAll('\n', '\n  ')}` : ''}`),
    ...(failed.length > MAX_FAILED ? [`and ${failed.length - MAX_FAILED} more failed`] : []),
    ...passed.slice(0, MAX_PASSED).map(({ id }) => `passed ${id}`),
    ...(passed.length > MAX_PASSED ? [`and ${passed.length - MAX_PASSED} more passed`] : []),
    ...(failed.length === 0 && exitCode !== 0 ? [said.trim()] : []),
  ].filter((line) => line !== '').join('\n');
}

/** Tests that passed; tests, and files and suites that failed by themselves, that failed. */
export function passedAndFailed(results: TriedTests['results']): { readonly passed: TriedTests['results']; readonly failed: TriedTests['results'] } {
  const failedTests = results.filter(({ kind, status }) => kind === 'test' && status === 'failed');
  return {
    passed: results.filter(({ kind, status }) => kind === 'test' && status === 'passed'),
    failed: results.filter(({ kind, status, id }) => status === 'failed' && (kind === 'test' || !failedTests.some((test) => test.id.startsWith(id)))),
  };
}
