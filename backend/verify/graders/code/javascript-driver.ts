/**
 * The JavaScript counterpart of the Python driver. Runs a program that reads standard input, or calls one of its functions, which may be
 * global or exported by a CommonJS module.
 */
export const JAVASCRIPT_DRIVER = String.raw`
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const [file, mode, name] = process.argv.slice(2);
const source = fs.readFileSync(file, 'utf8');

function plain(value, depth = 0) {
  if (depth > 200) throw new TypeError('the result is nested too deeply');
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return JSON.stringify(value);
    if (Number.isNaN(value)) return 'NaN';
    return value > 0 ? 'Infinity' : '-Infinity';
  }
  if (Array.isArray(value)) return '[' + value.map((item) => plain(item, depth + 1)).join() + ']';
  if (typeof value === 'object') {
    return '{' + Object.entries(value).map(([key, item]) => JSON.stringify(key) + ':' + plain(item, depth + 1)).join() + '}';
  }
  throw new TypeError('the result holds a value of type ' + typeof value + ', which no expected result does');
}

async function call() {
  const calls = fs.readFileSync(0, 'utf8').split('\n').map((line) => JSON.parse(line));
  for (const method of Object.keys(console)) if (typeof console[method] === 'function') console[method] = () => undefined;
  const holder = { exports: {} };
  Object.assign(globalThis, { require, module: holder, exports: holder.exports });
  vm.runInThisContext(source, { filename: 'program.cjs' });
  const found = vm.runInThisContext('typeof ' + name + ' === "function" ? ' + name + ' : undefined') ??
    holder.exports[name] ?? holder.exports;
  for (const given of calls) {
    const result = plain(await found(...given.split('\n').map((argument) => JSON.parse(argument))));
    fs.writeFileSync(1, result + '\n');
  }
  process.exit(0);
}

if (mode === 'call') {
  call().catch((error) => {
    console.error = () => undefined;
    process.stderr.write(String(error?.stack ?? error));
    process.exitCode = 1;
  });
} else {
  process.argv = [process.argv[0], file];
  require(path.resolve(file));
}
`;
