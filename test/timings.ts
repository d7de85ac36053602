// Prints how long the tests took, by folder, as a Markdown table.
//   npm run test:all -- --reporter=json --outputFile=report.json && node with-node.mjs node test/timings.ts report.json
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SLOW_TEST_FILES } from './suites.ts';

interface TestReport {
  readonly testResults: readonly { readonly name: string; readonly startTime: number; readonly endTime: number; readonly assertionResults: readonly unknown[] }[];
}
interface Row {
  readonly suite: string;
  files: number;
  tests: number;
  seconds: number;
}

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('Usage: node with-node.mjs node test/timings.ts REPORT.json');
  process.exit(2);
}
const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as TestReport;

const rows = new Map<string, Row>();
for (const { name, startTime, endTime, assertionResults } of testResults) {
  const test = name.slice(name.lastIndexOf('/test/') + 1);
  const suite = SLOW_TEST_FILES.some((pattern) => path.matchesGlob(test, pattern)) ? 'slow' : 'quick';
  for (const key of [`${suite} | ${test.split('/').slice(0, 2).join('/')}`, `${suite} | all`]) {
    const row = rows.get(key) ?? { suite: key, files: 0, tests: 0, seconds: 0 };
    rows.set(key, row);
    row.files += 1;
    row.tests += assertionResults.length;
    row.seconds += (endTime - startTime) / 1_000;
  }
}
console.log('| suite | folder | files | tests | seconds |');
console.log('| --- | --- | ---: | ---: | ---: |');
for (const { suite, files, tests, seconds } of [...rows.values()].sort((a, b) => b.seconds - a.seconds))
  console.log(`| ${suite} | ${files} | ${tests} | ${Math.round(seconds)} |`);
