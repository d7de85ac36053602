/**
 * The module `conductor-watch.cjs`. Our reporters for mocha and `node --test` and our guard of test processes use it. It is JavaScript,
 * because the project's own Node (18 or later) loads it.
 *
 * Lines of a report are numbered, and signed with a key that is removed from its file when the reporter is loaded. Thus other code cannot
 * write lines or leave some out. What tests rely on (the clock, the timers, `node:assert`) is compared with its state at the start.
 *
 * Remaining gaps: code in the same process that searches for the key (the inspector, the process's memory), that restores replaced
 * functions before the check, or that uses a mocking library of the tests. It would have to forge the negative control as well.
 */
export const javascriptWatch = ({ copy, signed }: WatchOptions): string => `
'use strict';
const assert = require('assert');
const { openSync, readFileSync, realpathSync, renameSync, unlinkSync, writeFileSync, writeSync } = require('fs');
const path = require('path');
const { fileURLToPath } = require('url');
const { apply } = Reflect;
const { stringify } = JSON;
const { from } = Buffer;
/** The number and the key of this report. Leaves the next report's key in the file, because the command may run tests again. */
const takeKey = (file, hash) => {
  const own = file + '.' + process.pid;
  for (let tries = 0; ; tries += 1) {
    try {
      renameSync(file, own);
      break;
    } catch (error) {
      // Another process is taking its key.
      if (tries === 500) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
  const [number, key] = readFileSync(own, 'utf8').split(' ');
  writeFileSync(own, Number(number) + 1 + ' ' + hash(from(key, 'hex'), 'next'));
  renameSync(own, file);
  return [Number(number), from(key, 'hex')];
};

/** Hashes by what crypto was when this is called. */
const hasher = () => {
  const { createHash } = require('crypto');
  const { update, digest } = Object.getPrototypeOf(createHash('sha256'));
  return (...parts) => {
    const state = createHash('sha256');
    for (let index = 0; index < parts.length; index += 1) apply(update, state, [parts[index]]);
    return apply(digest, state, ['hex']);
  };
};

const writer = (run, key, hash) => {
  const target = openSync(${JSON.stringify(signed?.destination)}, 'a', 0o600);
  let lines = 0;
  const line = (event) => {
    const text = run + ' ' + lines + ' ' + stringify(event);
    lines += 1;
    writeSync(target, hash(key, text, key) + ' ' + text + '\\n');
  };
  line.run = run;
  return line;
};

/**
 * Returns a function that writes a line of the report. Events must have no prototype, because a product may have added a toJSON to it. Its
 * \`forWorker\` writes a file with the key of a process or thread that this one starts, and returns its path.
 */
exports.openReport = () => {
  const hash = hasher();
  const keyFile = ${JSON.stringify(signed?.keyFile)};
  const [number, key] = takeKey(keyFile, hash);
  const line = writer(number, key, hash);
  let workers = 0;
  line.forWorker = () => {
    const run = number + '.' + workers;
    workers += 1;
    const file = keyFile + '.' + run;
    writeFileSync(file, run + ' ' + hash(key, 'worker ' + run), { mode: 0o600 });
    return file;
  };
  return line;
};

/** The same in such a process or thread, before any other code could read the file. */
exports.openWorkerReport = (file) => {
  const [run, key] = readFileSync(file, 'utf8').split(' ');
  unlinkSync(file);
  return writer(run, from(key, 'hex'), hasher());
};

/** What was thrown, as text. It may be anything, also an object without a prototype, which has no text. */
exports.textOf = (thrown) => {
  try {
    return String(thrown?.message || thrown).slice(0, 4000);
  } catch {
    return 'The test threw an object that has no text.';
  }
};

const COPY = ${JSON.stringify(copy)} + path.sep;
const TEMPORARY = realpathSync(process.env.TMPDIR || '/tmp') + path.sep;

/** The file that defines a function, relative to the copy; 'installed' if no patch could write it; null if its origin is unknown. */
const placeOf = (value) => {
  const url = urlOf(value);
  if (url === undefined || url === '') return null;
  if (url.startsWith('node:')) return 'installed';
  const file = url.startsWith('file:') ? fileURLToPath(url) : url;
  const relative = file.startsWith(COPY) ? file.slice(COPY.length).split(path.sep).join('/') : undefined;
  if (relative === undefined) return path.isAbsolute(file) && !file.startsWith(TEMPORARY) ? 'installed' : null;
  // Installed packages are outside the copy, which only links to them.
  return relative.split('/').includes('node_modules') ? null : relative;
};

/** Only V8 knows where a function was defined. For a bound function, this is the place of its target. */
const urlOf = (value) => {
  const { Session } = require('inspector');
  const session = new Session();
  const urls = new Map();
  const name = '__conductor' + Math.random();
  let url;
  try {
    session.connect();
    session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.hasSourceURL ? undefined : params.url));
    session.post('Debugger.enable');
    Object.defineProperty(globalThis, name, { value, configurable: true });
    let objectId;
    session.post('Runtime.evaluate', { expression: 'globalThis[' + stringify(name) + ']' }, (_, answer) => {
      objectId = answer?.result.objectId;
    });
    for (let depth = 0; depth < 9 && objectId !== undefined; depth += 1) {
      const asked = objectId;
      objectId = undefined;
      session.post('Runtime.getProperties', { objectId: asked, ownProperties: true }, (_, answer) => {
        for (const { name: property, value: found } of answer?.internalProperties ?? []) {
          if (property === '[[FunctionLocation]]') url = urls.get(found.value.scriptId);
          if (property === '[[TargetFunction]]') objectId = found.objectId;
        }
      });
    }
  } catch {
    // This Node has no inspector.
  } finally {
    delete globalThis[name];
    session.disconnect();
  }
  return url;
};

const member = (name, object, key) => [name + '.' + key, () => object[key]];

const RELIED_ON = [
  ...['Date', 'setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'].map((key) =>
    member('globalThis', globalThis, key)),
  member('Date', Date, 'now'),
  member('performance', performance, 'now'),
  member('process', process, 'hrtime'),
  member('process.hrtime', process.hrtime, 'bigint'),
  member('Object', Object, 'is'),
  ...[['assert', assert], ['assert.strict', assert.strict]].flatMap(([name, object]) =>
    Object.keys(object).filter((key) => typeof object[key] === 'function').map((key) => member(name, object, key))),
];

/** Returns a function that lists what was replaced since this call. \`more\` are further names with functions that get their values. */
exports.watch = (more = []) => {
  const known = [...RELIED_ON, ...more].map(([name, current]) => [name, current, current()]);
  return () => {
    const replaced = [];
    for (let index = 0; index < known.length; index += 1) {
      const [name, current, value] = known[index];
      const now = current();
      if (now === value) continue;
      const file = placeOf(now);
      if (file !== 'installed') replaced.push({ __proto__: null, type: 'replaced', name, file });
    }
    return replaced;
  };
};
exports.member = member;

/** A test's function that tells \`failed\` what it throws, also later. */
exports.watched = (fn, failed) => {
  const fail = (error) => {
    failed(error);
    throw error;
  };
  const made = function (...given) {
    try {
      const result = fn.apply(this, given);
      return typeof result?.then === 'function' ? result.then((value) => value, fail) : result;
    } catch (error) {
      return fail(error);
    }
  };
  Object.defineProperty(made, 'length', { value: fn.length });
  return made;
};
`;

interface WatchOptions {
  /** The folder in which the tests run, absolute. */
  readonly copy: string;
  /** The files of a signed report, if there is one. */
  readonly signed?: { readonly destination: string; readonly keyFile: string };
}
