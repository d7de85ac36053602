/**
 * A module that tape loads first (`-r`). It is JavaScript, because the project's own Node loads it. It writes a signed line per test, and a
 * last line when the process ends. TAP on stdout does not serve: code under test can print it.
 *
 * tape runs the tests in this process. So this takes what it needs before any test file is loaded, and watches tape's own methods, as
 * `mocha-reporter.ts` does. tape itself fails the tests that have not ended when the process does, unless an error ends it: then this does. `watch` is the module of
 * `javascript-watch.ts`.
 */
export const tapeReporter = (watch: string): string => `
'use strict';
const { EventEmitter } = require('events');
const { createRequire } = require('module');
const path = require('path');
const { inspect } = require('util');
const { fileURLToPath } = require('url');
const { member, openReport, textOf, watch } = require(${JSON.stringify(watch)});
const { setPrototypeOf } = Object;
const line = openReport();
line({ __proto__: null, type: 'start' });

const own = createRequire(path.join(process.cwd(), 'package.json'));
const main = own.resolve('tape');
const { prototype } = own(path.join(path.dirname(main), 'lib/test.js'));
const replaced = watch([
  member('EventEmitter.prototype', EventEmitter.prototype, 'emit'),
  ...Object.getOwnPropertyNames(prototype).filter((key) => typeof prototype[key] === 'function' && key !== 'run').map((key) => member('Test.prototype', prototype, key)),
]);

/** The file that a test is declared in: the first on the stack that is no package and not Node's own. */
const callerFile = () => {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFileName());
  const names = new Error().stack;
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  for (const name of Array.isArray(names) ? names : []) {
    if (typeof name !== 'string' || name === __filename || name.startsWith('node:')) continue;
    const file = name.startsWith('file:') ? fileURLToPath(name) : name;
    if (path.isAbsolute(file) && !file.split(path.sep).includes('node_modules')) return file;
  }
  return undefined;
};

const said = (value) => {
  try {
    return inspect(value, { depth: 3 }).slice(0, 4000);
  } catch {
    return 'a value that cannot be shown';
  }
};

const seen = new WeakSet();
/** Of tests that have not ended, what tells their failure. */
const open = new Set();
let isOnly = false;
const follow = (test, file, above) => {
  if (!test || seen.has(test)) return;
  seen.add(test);
  const names = setPrototypeOf([], null);
  for (let index = 0; index < above.length; index += 1) names[index] = above[index];
  names[above.length] = String(test.name);
  const started = performance.now();
  let results = 0;
  let subtests = 0;
  let message;
  let hasBegun = test._skip || !test._cb;
  let told = false;
  const tell = (status) => {
    if (told) return;
    told = true;
    open.delete(cut);
    // One that never began may have subtests.
    const type = results === 0 && (subtests > 0 || !hasBegun) ? 'suite' : 'test';
    if (type === 'test' || status === 'failed')
      line({ __proto__: null, type, file, path: names, status, message, durationMs: performance.now() - started });
  };
  test.on('result', (result) => {
    // Comments are texts.
    if (typeof result !== 'object' || result === null) return;
    results += 1;
    if (result.ok || result.todo || message !== undefined) return;
    message = textOf(result.error || result.name) + ' (' + result.operator + ': expected ' + said(result.expected) + ', got ' + said(result.actual) + ')';
    // What fails after the end fails as well.
    if (told) line({ __proto__: null, type: 'late', file, path: names, status: 'failed', message, durationMs: 0 });
  });
  test.on('test', (below) => {
    subtests += 1;
    follow(below, file, names);
  });
  const cut = () => {
    message ??= 'The process ended before this test did.';
    tell('failed');
  };
  open.add(cut);
  test.on('prerun', () => { hasBegun = true; });
  test.on('end', () => tell(message !== undefined ? 'failed' : test._skip || test._todo || !test._cb ? 'skipped' : 'passed'));
};

let isFinished = false;
const finish = () => {
  if (isFinished) return;
  isFinished = true;
  if (!isOnly) for (const cut of [...open]) cut();
  for (const found of replaced()) line(found);
  line({ __proto__: null, type: 'end' });
};
// tape ends the process in its own listener, after which no other is called.
const reallyExit = process.reallyExit;
process.reallyExit = function (code) {
  finish();
  return reallyExit.call(process, code);
};

// A declared test is pushed to the results, however the file has come by tape.
const Results = own(path.join(path.dirname(main), 'lib/results.js')).prototype;
const { only, push } = Results;
let isFirst = true;
Results.push = function (test) {
  if (isFirst) process.on('exit', finish);
  isFirst = false;
  follow(test, callerFile(), setPrototypeOf([], null));
  return push.call(this, test);
};
Results.only = function (test) {
  // The other tests are not run.
  isOnly = true;
  return only.call(this, test);
};
`;
