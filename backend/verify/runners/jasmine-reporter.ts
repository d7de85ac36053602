/**
 * A reporter for Jasmine 3.7 and later. It is JavaScript, because the project's own Node loads it. It writes a signed line per test, and a last
 * line at the end of the run. `watch` is the module of `javascript-watch.ts`.
 *
 * Jasmine runs the tests in the reporter's process, and loads the reporter before any helper or test file. So the reporter takes what it needs
 * by then, and watches Jasmine's own functions. Jasmine's results name no file of a test in all versions: the file is the one that was being
 * loaded when the test was declared.
 *
 * If a file cannot be loaded, Jasmine runs none. Then every file of tests is reported as failed. The same holds if something fails outside of
 * all suites; a hook in a suite fails that suite. All tests must run, not only those up to the first failure.
 */
export const jasmineReporter = (watch: string): string => `
'use strict';
const { member, openReport, textOf, watch, watched } = require(${JSON.stringify(watch)});
const { setPrototypeOf } = Object;
const line = openReport();
line({ __proto__: null, type: 'start' });

const loaded = (pattern) => Object.keys(require.cache).filter((file) => pattern.test(file)).map((file) => require(file));
const [Loader] = loaded(/[\\\\/]jasmine[\\\\/]lib[\\\\/]loader\\.js$/);
const runners = loaded(/[\\\\/]jasmine[\\\\/]lib[\\\\/]jasmine\\.js$/);
const [core] = loaded(/[\\\\/]jasmine-core[\\\\/]lib[\\\\/]jasmine-core\\.js$/);
const jasmine = globalThis.jasmine ?? core.noGlobals().jasmine;
const env = jasmine.getEnv();

const valueOf = (object, key) => Object.getOwnPropertyDescriptor(object, key).value;
/** Since 6.0, Jasmine's functions are accessors, which warn where one is set. */
const got = (object, key) => object[key];
const functionsOf = (name, object, read = got) => Object.getOwnPropertyNames(object ?? {})
  .filter((key) => typeof read(object, key) === 'function')
  .map((key) => member(name, object, key));
const classesIn = (name, object) => Object.keys(object ?? {})
  .filter((key) => /^[A-Z]/.test(key) && typeof object[key] === 'function' && object[key].prototype)
  .flatMap((key) => functionsOf(name + '.' + key + '.prototype', object[key].prototype, valueOf));
const INTERFACE = ['describe', 'it', 'fit', 'xit', 'fdescribe', 'xdescribe', 'beforeEach', 'afterEach', 'beforeAll', 'afterAll', 'expect', 'expectAsync', 'fail', 'pending', 'jasmine'];
const known = () => watch([
  ...INTERFACE.filter((key) => key in globalThis).map((key) => member('globalThis', globalThis, key)),
  ...['jasmine', 'jasmine.private'].flatMap((name) => {
    const object = name === 'jasmine' ? jasmine : jasmine.private;
    return [...functionsOf(name, object), ...classesIn(name, object), ...functionsOf(name + '.matchers', object?.matchers), ...functionsOf(name + '.asyncMatchers', object?.asyncMatchers)];
  }),
  ...functionsOf('jasmine.getEnv()', env),
]);
const put = (name, value) => Object.defineProperty(env, name, { value, writable: true, enumerable: true, configurable: true });

let current;
const load = Loader?.prototype.load;
if (load) Loader.prototype.load = function (file, ...rest) {
  current = file;
  return load.call(this, file, ...rest);
};

/** Files, and what a test's function threw, by the ids that Jasmine gives. */
const files = new Map();
const failures = new Map();
const { get, has, set } = Map.prototype;
const fileOf = ({ id }) => get.call(files, id);
const noteFile = (declared) => {
  if (declared?.id !== undefined) set.call(files, declared.id, current);
  return declared;
};

for (const name of ['describe', 'fdescribe', 'xdescribe']) {
  const declare = env[name];
  put(name, function (...given) { return noteFile(declare.apply(this, given)); });
}
for (const name of ['it', 'fit', 'xit']) {
  const declare = env[name];
  put(name, function (title, fn, ...rest) {
    if (typeof fn !== 'function') return noteFile(declare.call(this, title, fn, ...rest));
    let id;
    // Jasmine takes some errors for no failure.
    const declared = noteFile(declare.call(this, title, watched(fn, (error) => set.call(failures, id, error)), ...rest));
    id = declared?.id;
    return declared;
  });
}
const replaced = known();

let specFiles = [];
const tellFiles = (error) => {
  for (const file of specFiles) line({ __proto__: null, type: 'file', file, path: setPrototypeOf([], null), message: textOf(error) });
};
const end = () => {
  for (const found of replaced()) line(found);
  line({ __proto__: null, type: 'end' });
};
for (const { prototype } of runners) {
  for (const name of ['loadRequires', 'loadHelpers', 'loadSpecs']) {
    const loadAll = prototype[name];
    if (!loadAll) continue;
    prototype[name] = async function (...given) {
      specFiles = this.specFiles;
      try {
        return await loadAll.apply(this, given);
      } catch (error) {
        tellFiles(error);
        end();
        throw error;
      }
    };
  }
}

/** Names of the suites around. */
const around = [];
const pathTo = (name) => {
  const names = setPrototypeOf([], null);
  for (let index = 0; index < around.length; index += 1) names[index] = around[index];
  if (name !== undefined) names[around.length] = name;
  return names;
};
const saidBy = (failed) => failed.map(({ message }) => message).join('\\n').slice(0, 4000);
const STATUS = { __proto__: null, passed: 'pass', failed: 'fail' };

module.exports = class Reporter {
  jasmineStarted() {
    env.configure({ failFast: false, oneFailurePerSpec: false, stopOnSpecFailure: false, stopSpecOnExpectationFailure: false });
  }
  suiteStarted({ description }) {
    around[around.length] = String(description);
  }
  specDone(spec) {
    const { id, description, status, failedExpectations, duration } = spec;
    const type = STATUS[status] ?? 'pending';
    if (type === 'pass' && has.call(failures, id)) line({ __proto__: null, type: 'planted', what: 'A test was reported as passed that threw: ' + description });
    line({
      __proto__: null, type, file: fileOf(spec), path: pathTo(String(description)), durationMs: duration ?? undefined,
      message: type === 'fail' ? saidBy(failedExpectations) : undefined,
    });
  }
  suiteDone(suite) {
    if (suite.failedExpectations.length > 0)
      line({ __proto__: null, type: 'suite', file: fileOf(suite), path: pathTo(), message: saidBy(suite.failedExpectations) });
    around.length -= 1;
  }
  jasmineDone({ failedExpectations = [] }) {
    if (failedExpectations.length > 0) tellFiles(saidBy(failedExpectations));
    end();
  }
};
`;
