// Prints how long the tests took, by suite and folder, as a Markdown table: the table in CONTRIBUTING.md.
//   npm run test:all -- --reporter=json --outputFile=report.json && node with-node.mjs node test/timings.ts report.json
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SLOW_TEST_FILES } from './suites.ts';

interface TestReport {
  readonly testResults: readonly { readonly name: string; readonly startTime: number; readonly endTime: number; readonly assertionResults: readonly unknown[] }[];
}
const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('Usage: node with-node.mjs node test/timings.ts REPORT.json');
  process.exit(2);
}
const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as TestReport;

/** Folders below this share of their suite's time stand together in one row. */
const SMALLEST_SHARE = 0.05;

const timed = testResults.map(({ name, startTime, endTime, assertionResults }) => {
  const test = name.slice(name.lastIndexOf('/test/') + 1);
  const suite = SLOW_TEST_FILES.some((pattern) => path.matchesGlob(test, pattern)) ? 'slow' : 'quick';
  return { suite, folder: test.split('/').slice(0, -1).slice(0, 3).join('/'), tests: assertionResults.length, seconds: (endTime - startTime) / 1_000 };
});

console.log('| suite | folder | files | tests | seconds |');
console.log('| --- | --- | ---: | ---: | ---: |');
for (const suite of ['quick', 'slow']) {
  const ofSuite = timed.filter((file) => file.suite === suite);
  print(suite, 'all', ofSuite);
  const folders = Object.entries(Object.groupBy(ofSuite, ({ folder }) => folder)).map(([folder, files = []]) => ({ folder, files, seconds: sum(files, ({ seconds }) => seconds) }));
  const all = sum(ofSuite, ({ seconds }) => seconds);
  const isLarge = ({ seconds }: { seconds: number }): boolean => seconds >= SMALLEST_SHARE * all;
  for (const { folder, files } of folders.filter(isLarge).sort((a, b) => b.seconds - a.seconds)) print(suite, folder, files);
  print(suite, 'other folders', folders.filter((folder) => !isLarge(folder)).flatMap(({ files }) => files));
}

function print(suite: string, folder: string, files: readonly { tests: number; seconds: number }[]): void {
  console.log(`| ${suite} | ${folder} | ${files.length} | ${sum(files, ({ tests }) => tests)} | ${Math.round(sum(files, ({ seconds }) => seconds))} |`);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
