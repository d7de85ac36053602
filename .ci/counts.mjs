// Prints "passed failed skipped" of a test report: Vitest's JSON, or our own {passed, failed, skipped}. Valid on Node 18.
//   node .ci/counts.mjs REPORT.json
import { readFileSync } from 'node:fs';

let report;
try {
  report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
} catch {
  console.log('it left no report');
  process.exit(1);
}
const counts = 'numTotalTests' in report
  ? [report.numPassedTests, report.numFailedTests, report.numPendingTests + report.numTodoTests]
  : [report.passed, report.failed, report.skipped];
if (counts[0] + counts[1] === 0) {
  console.log('it ran no test');
  process.exit(1);
}
console.log(counts.join(' '));
