/**
 * A module that Node loads before a runner whose tests run in workers: processes or threads that tell the main process how their tests
 * ended. Code under test shares the worker, and can change what is told. So there are two witnesses, each with a key that no other code has:
 *
 * - The main process signs what it reports (`signs`), and which files it gave to workers.
 * - Each worker signs by itself how the function of each test ended, as soon as it has (`witness`).
 *
 * `checkWitnesses` compares the two. A worker finds its key in a file that it removes before any other code runs. The module removes itself
 * from the environment of tests and of what they start. `watch` is the module of `javascript-watch.ts`.
 */
export const witnessGuard = ({ watch, option, isMain, signs, witness }: WitnessGuard): string => `
'use strict';
const childProcess = require('child_process');
const { syncBuiltinESMExports } = require('module');
const threads = require('worker_threads');
const { apply } = Reflect;
const { ${KEY}: keyFile } = process.env;
delete process.env.${KEY};

const witness = (line) => {
  ${witness}
};

const main = () => {
  const line = require(${JSON.stringify(watch)}).openReport();
  line({ __proto__: null, type: 'start' });
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
    line({ __proto__: null, type: 'end' });
  };
  process.on('exit', () => {
    if (!hasEnded) end();
  });

  const { SHARE_ENV, Worker, MessagePort } = threads;
  const withKey = (options) => options?.env === SHARE_ENV
    ? options
    : { ...options, env: { ...(options?.env ?? process.env), ${KEY}: line.forWorker() } };
  const { fork } = childProcess;
  childProcess.fork = function (file, ...given) {
    const args = Array.isArray(given[0]) ? given[0] : [];
    const child = apply(fork, this, [file, args, withKey(Array.isArray(given[0]) ? given[1] : given[0] ?? given[1])]);
    watchSends(child, 'send');
    return child;
  };
  threads.Worker = class extends Worker {
    constructor(file, options) {
      super(file, withKey(options));
    }
  };

  const told = new Set();
  const tellFile = (file) => {
    if (typeof file !== 'string' || told.has(file)) return;
    told.add(file);
    line({ __proto__: null, type: 'given', file });
  };
  // vitest: { context: { files: [{ filepath }] } }, or texts; jest: [1, false, 'worker', [{ path }]].
  const tellFiles = (value, depth = 0) => {
    if (typeof value !== 'object' || value === null || depth > 5) return;
    if (Array.isArray(value)) return value.forEach((item) => tellFiles(item, depth + 1));
    tellFile(value.filepath);
    if (value.globalConfig) tellFile(value.path);
    if (Array.isArray(value.files)) value.files.forEach((file) => { tellFile(file); tellFiles(file, depth + 1); });
    for (const key of ['context', 'task']) tellFiles(value[key], depth + 1);
  };
  // vitest has a compiler judge files of tests, and reports what it says as tests of its own.
  const { spawn } = childProcess;
  childProcess.spawn = function (...given) {
    if (Array.isArray(given[1]) && given[1].some((word) => word === '--noEmit' || word === '--build')) line({ __proto__: null, type: 'compiled' });
    return apply(spawn, this, given);
  };
  const watchSends = (object, key) => {
    const send = object[key];
    object[key] = function (message, ...more) {
      tellFiles(message);
      return apply(send, this, [message, ...more]);
    };
  };
  watchSends(Worker.prototype, 'postMessage');
  watchSends(MessagePort.prototype, 'postMessage');
  (${signs})({ line, end });
  syncBuiltinESMExports();
};

if (keyFile !== undefined) {
  const { NODE_OPTIONS = '' } = process.env;
  process.env.NODE_OPTIONS = NODE_OPTIONS.replace(${JSON.stringify(option)}, '').trim();
  if (process.env.NODE_OPTIONS === '') delete process.env.NODE_OPTIONS;
  delete process.env.CONDUCTOR_NODE_OPTIONS;
  witness(require(${JSON.stringify(watch)}).openWorkerReport(keyFile));
} else if (threads.isMainThread && !process.send && ${String(isMain)}.test(String(process.argv[1]))) main();
`;

/** In the environment of a worker: the file with its key. */
const KEY = 'CONDUCTOR_WORKER_KEY';

interface WitnessGuard {
  readonly watch: string;
  /** For NODE_OPTIONS, as it stands there. */
  readonly option: string;
  /** What the program of the main process is called. */
  readonly isMain: RegExp;
  /** JavaScript: a function of `{ line, end }` that makes the main process sign its report. */
  readonly signs: string;
  /** JavaScript with `line`: what a worker does before any test is loaded. */
  readonly witness: string;
}

/** JavaScript: signs the text that the runner writes to the file `destination` (absolute), and does not write it. */
export const signsFile = (destination: string): string => `({ line, end }) => {
  const fs = require('fs');
  const report = (file, text) => {
    if (String(file) !== ${JSON.stringify(destination)}) return false;
    line({ __proto__: null, type: 'report', text: String(text) });
    end();
    return true;
  };
  const { writeFileSync } = fs;
  const { writeFile } = fs.promises;
  fs.writeFileSync = function (file, text, ...more) {
    return report(file, text) ? undefined : apply(writeFileSync, this, [file, text, ...more]);
  };
  fs.promises.writeFile = async function (file, text, ...more) {
    return report(file, text) ? undefined : await apply(writeFile, this, [file, text, ...more]);
  };
}`;
