// Prints "passed failed skipped" of a test report: Vitest's JSON, or our own {passed, failed, skipped}. Valid on Node 18.
// The lines behind it name the tests that failed, as far as the report does.
//   node .ci/counts.mjs REPORT.json
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

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
for (const { name, status, message, assertionResults = [] } of report.testResults ?? []) {
  const file = relative(process.cwd(), name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  for (const { fullName, failureMessages = [] } of failed) console.log(`${file} > ${fullName}: ${firstLine(failureMessages[0])}`);
  if (status === 'failed' && failed.length === 0) console.log(`${file}: ${firstLine(message)}`);
}

function firstLine(text = '') {
  return text.split('\n', 1)[0].slice(0, 300);
}
