/**
 * A reporter for mocha 3 and later. It is JavaScript, because the project's own Node loads it. It writes a signed line per test, and a last
 * line at the end of the run. `watch` is the module of `javascript-watch.ts`.
 *
 * The built-in `json` reporter does not serve: it joins the names of suites and tests by spaces, so they cannot be separated, and writes a
 * file only since 9.2. mocha runs the tests in the reporter's process (except with `--parallel`). So the reporter takes what it needs
 * before any test file is loaded, and watches mocha's own methods.
 *
 * If a test file cannot be loaded, mocha runs none and starts no reporter. Then every file with tests is reported as failed. The same holds
 * if a hook outside of suites fails; a hook in a suite fails that suite. All tests must run, not only those up to the first failure.
 */
export const mochaReporter = (watch: string): string => `
'use strict';
const { EventEmitter } = require('events');
const { readFileSync } = require('fs');
const { member, openReport, textOf, watch, watched } = require(${JSON.stringify(watch)});
const { setPrototypeOf } = Object;
const line = openReport();
line({ __proto__: null, type: 'start' });

const mocha = Object.keys(require.cache).find((file) => /[\\\\/]mocha[\\\\/]lib[\\\\/]mocha\\.c?js$/.test(file));
const Mocha = mocha && require(mocha);
const classes = Mocha ? ['Runner', 'Runnable', 'Suite', 'Test', 'Hook'].filter((name) => Mocha[name]) : [];
const replaced = watch([
  member('EventEmitter.prototype', EventEmitter.prototype, 'emit'),
  ...classes.flatMap((name) => Object.getOwnPropertyNames(Mocha[name].prototype)
    .filter((key) => typeof Object.getOwnPropertyDescriptor(Mocha[name].prototype, key).value === 'function')
    .map((key) => member(name + '.prototype', Mocha[name].prototype, key))),
]);

const pathOf = (runnable) => {
  const names = setPrototypeOf([], null);
  for (let at = runnable; at && !at.root; at = at.parent) {
    for (let index = names.length; index > 0; index -= 1) names[index] = names[index - 1];
    names[0] = String(at.title);
  }
  return names;
};
const fileOf = (runnable) => {
  for (let at = runnable; at; at = at.parent) if (at.file) return at.file;
  return undefined;
};
const tell = (type, runnable, error) => line({
  __proto__: null,
  type,
  file: fileOf(runnable),
  path: pathOf(runnable),
  durationMs: runnable.duration,
  message: error && textOf(error),
});

/** Files may also hold nothing but hooks or helpers. */
const hasTests = (file) => {
  try {
    return /(?<![.\\w])(?:it|test|specify|describe|context|suite)(?:\\.\\w+)?\\s*\\(/.test(readFileSync(file, 'utf8'));
  } catch {
    return true;
  }
};
const tellFiles = (files, error) => {
  const message = textOf(error);
  const found = files.filter(hasTests);
  for (const file of found.length > 0 ? found : files)
    line({ __proto__: null, type: 'file', file, path: setPrototypeOf([], null), message });
};

for (const name of ['loadFiles', 'loadFilesAsync']) {
  const load = Mocha?.prototype[name];
  if (!load) continue;
  const fail = (files, error) => {
    tellFiles(files, error);
    line({ __proto__: null, type: 'end' });
    throw error;
  };
  Mocha.prototype[name] = function (...given) {
    try {
      const loading = load.apply(this, given);
      return loading?.then ? loading.then(undefined, (error) => fail(this.files, error)) : loading;
    } catch (error) {
      return fail(this.files, error);
    }
  };
}

/** What a test's function does when it is called, whoever calls it: mocha takes some errors for no failure. */
const failures = new WeakMap();
const watchRun = (test) => {
  const { fn } = test;
  if (typeof fn !== 'function') return;
  test.fn = watched(fn, (error) => failures.set(test, error));
};
const planted = (what) => line({ __proto__: null, type: 'planted', what });

const goOn = (suite) => {
  suite.bail(false);
  suite.suites.forEach(goOn);
};

module.exports = class Reporter {
  constructor(runner, options) {
    options.bail = false;
    runner.on('start', () => goOn(runner.suite));
    // Tests of other processes come with their suites.
    runner.linkPartialObjects?.(true);
    runner.on('test', watchRun);
    let listeners;
    runner.on('test', () => {
      listeners ??= process.listeners('uncaughtException');
    });
    runner.on('pass', (test) => {
      if (failures.has(test)) planted('A test was reported as passed that threw: ' + test.title);
    });
    runner.on('suite end', () => {
      const now = process.listeners('uncaughtException');
      if (listeners?.some((listener) => !now.includes(listener))) planted('The code under test took from mocha what it hears of errors by.');
    });
    runner.on('pass', (test) => tell('pass', test));
    runner.on('pending', (test) => tell('pending', test));
    // A test that failed may fail again, such as when it goes on after an error that nobody caught. That is chance, and it is one test.
    const failed = new WeakSet();
    runner.on('fail', (test, error) => {
      if (failed.has(test)) return;
      failed.add(test);
      if (test.type !== 'hook') tell('fail', test, error);
      else if (test.parent.root) tellFiles(options.files, error);
      else tell('suite', test.parent, error);
    });
    runner.on('end', () => {
      for (const found of replaced()) line(found);
      line({ __proto__: null, type: 'end' });
    });
  }
};
`;
