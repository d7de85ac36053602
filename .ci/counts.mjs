// Prints "passed failed skipped" of a test report: Vitest's JSON, or our own {passed, failed, skipped}. Valid on Node 18.
// The lines behind it name the tests that failed, as far as the report does.
//   node .ci/counts.mjs REPORT.json [AGAIN.json]   In AGAIN, files that failed were run once more; its results replace those of the first run.
//   node .ci/counts.mjs --failed REPORT.json       Prints the files that failed, a line each.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [onlyFailed, ...paths] = process.argv[2] === '--failed' ? [true, ...process.argv.slice(3)] : [false, ...process.argv.slice(2)];
const [report, again] = paths.map(read);

if (onlyFailed) {
  for (const { name } of filesOf(report).filter(hasFailed)) console.log(name);
} else {
  const second = new Map(filesOf(again).map((file) => [file.name, file]));
  const files = filesOf(report).map((file) => second.get(file.name) ?? file);
  const counts = 'testResults' in report ? countsOf(files) : [report.passed, report.failed, report.skipped];
  if (counts[0] + counts[1] === 0) fail('it ran no test');
  console.log(counts.join(' '));
  for (const line of files.flatMap(failuresOf)) console.log(line);
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return fail('it left no report');
  }
}

function fail(reason) {
  console.log(reason);
  process.exit(1);
}

function filesOf(of) {
  return of?.testResults ?? [];
}

/** A file that does not load fails without a test of it. */
function hasFailed({ status, assertionResults = [] }) {
  return status === 'failed' || assertionResults.some((test) => test.status === 'failed');
}

function countsOf(files) {
  const statuses = files.flatMap(({ assertionResults = [] }) => assertionResults.map(({ status }) => status));
  const passed = statuses.filter((status) => status === 'passed').length;
  const failed = statuses.filter((status) => status === 'failed').length;
  const notLoaded = files.filter((file) => hasFailed(file) && failuresIn(file).length === 0).length;
  return [passed, failed + notLoaded, statuses.length - passed - failed];
}

function failuresIn({ assertionResults = [] }) {
  return assertionResults.filter((test) => test.status === 'failed');
}

function failuresOf(file) {
  const name = relative(process.cwd(), file.name);
  const failures = failuresIn(file);
  if (hasFailed(file) && failures.length === 0) return [`${name}: ${firstLine(file.message)}`];
  return failures.map(({ fullName, failureMessages = [] }) => `${name} > ${fullName}: ${firstLine(failureMessages[0])}`);
}

function firstLine(text = '') {
  return text.split('\n', 1)[0].slice(0, 300);
}
