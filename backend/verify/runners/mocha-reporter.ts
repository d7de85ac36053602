/**
 * A reporter for mocha 3 and later, in JavaScript because the project's own Node loads it. One JSON line per test, and a last line
 * that says that the run was not cut off.
 *
 * Why not the built-in `json`: it joins the names of suites and test by spaces, so that they cannot be told apart, and writes a
 * file only since 9.2. mocha calls the tests in the reporter's own process (but for `--parallel`), so what the reporter needs is
 * taken before any test file is loaded. That is no wall: code that looks for the report can forge it.
 */
export const mochaReporter = (destination: string): string => `
'use strict';
const { openSync, writeSync } = require('fs');
const { stringify } = JSON;
const target = openSync(${JSON.stringify(destination)}, 'wx');
const write = (line) => void writeSync(target, stringify(line) + '\\n');

const pathOf = (runnable) => {
  const names = [];
  for (let at = runnable; at && !at.root; at = at.parent) names.unshift(String(at.title));
  return names;
};
const fileOf = (runnable) => {
  for (let at = runnable; at; at = at.parent) if (at.file) return at.file;
  return undefined;
};
const line = (type, runnable, error) => ({
  type,
  file: fileOf(runnable),
  path: runnable.parent ? pathOf(runnable) : runnable.titlePath ? runnable.titlePath() : [String(runnable.title)],
  durationMs: runnable.duration,
  message: error && String(error.message || error).slice(0, 4000),
});

module.exports = class Reporter {
  constructor(runner) {
    runner.on('pass', (test) => write(line('pass', test)));
    runner.on('pending', (test) => write(line('pending', test)));
    // A hook that fails is told of by the same event.
    runner.on('fail', (test, error) => write(line(test.type === 'hook' ? 'hook' : 'fail', test, error)));
    runner.on('end', () => write({ type: 'end' }));
  }
};
`;
