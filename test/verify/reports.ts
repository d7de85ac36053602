import type { TestReport, TestResult } from '../../backend/verify/runners/test-report.ts';

/** `✓ name`, `✗ name`, `- name` (skipped); a name in brackets is a file or suite. */
export function report(...lines: string[]): TestReport {
  return {
    results: lines.map((line): TestResult => {
      const [mark, id] = [line.charAt(0), line.slice(2)];
      const status = mark === '✓' ? 'passed' : mark === '✗' ? 'failed' : 'skipped';
      return { id: id.replaceAll(/[[\]]/g, ''), kind: id.startsWith('[') ? 'container' : 'test', status };
    }),
  };
}
