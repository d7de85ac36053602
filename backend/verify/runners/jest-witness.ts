/**
 * What a worker of jest does to be a witness. jest-circus tells the environment of the tests what happens to them (since 24). That is an object outside of
 * the context in which tests and the code under test run. Other test frameworks do not tell, so their files have no witness.
 *
 * A test that is to fail (`test.failing`) is told as one when it is declared. An error in a hook comes after the end of the function.
 */
export const JEST_WITNESS = `
  const Module = require('module');
  const { setPrototypeOf } = Object;
  let file;
  // [1, false, 'worker', [{ path }]]: the call of one file. [2]: the end, after which a listener would keep the process alive.
  const channel = threads.isMainThread ? process : threads.parentPort;
  channel.on('message', function listen(message) {
    if (message?.[0] === 1 && typeof message[3]?.[0]?.path === 'string') file = message[3][0].path;
    if (message?.[0] === 2) channel.off('message', listen);
  });

  let tests = 0;
  const numbers = new WeakMap();
  const numberOf = (test) => {
    if (!numbers.has(test)) numbers.set(test, tests++);
    return numbers.get(test);
  };
  const pathOf = (test) => {
    const names = setPrototypeOf([], null);
    let length = 0;
    for (let at = test; at && length < 100; at = at.parent) if (at.parent) names[length++] = String(at.name);
    return names;
  };
  const toFail = new WeakSet();
  const tell = (test, hasFailed) => line({
    __proto__: null, type: 'ran', worker: line.run, test: numberOf(test), file, path: pathOf(test), passed: hasFailed === toFail.has(test.asyncError),
  });
  const see = ({ name, test, failing, asyncError }) => {
    if (name === 'setup') line({ __proto__: null, type: 'watched', file });
    else if (name === 'add_test' && failing && asyncError) toFail.add(asyncError);
    else if (name === 'test_fn_success' && test) tell(test, false);
    else if (name === 'test_fn_failure' && test) tell(test, true);
    else if (name === 'hook_failure' && test) line({ __proto__: null, type: 'ran', worker: line.run, test: numberOf(test), file, path: pathOf(test), passed: false });
  };
  const seen = new WeakSet();
  const watchEvents = (environment) => {
    if (seen.has(environment)) return;
    seen.add(environment);
    const { handleTestEvent } = environment;
    environment.handleTestEvent = function (event, ...more) {
      see(event);
      return handleTestEvent && apply(handleTestEvent, this, [event, ...more]);
    };
  };
  const watched = new WeakSet();
  const watchEnvironment = (prototype) => {
    const { getVmContext } = prototype ?? {};
    if (typeof getVmContext !== 'function' || watched.has(prototype)) return;
    watched.add(prototype);
    prototype.getVmContext = function (...given) {
      watchEvents(this);
      return apply(getVmContext, this, given);
    };
  };
  const { _load } = Module;
  Module._load = function (request, ...more) {
    const found = apply(_load, this, [request, ...more]);
    if (/environment/i.test(request) && found) for (const type of [found, found.default, found.TestEnvironment]) watchEnvironment(type?.prototype);
    return found;
  };
`;

/**
 * JavaScript: has jest run no file in its main process, which it does with a single file or with quick ones. Code under test could reach all of
 * that process by the modules that it shares with it.
 */
export const JEST_IN_WORKERS = `() => {
  const Module = require('module');
  const { _load } = Module;
  const watched = new WeakSet();
  Module._load = function (request, ...more) {
    const found = apply(_load, this, [request, ...more]);
    const prototype = /runner/i.test(request) ? (found?.default ?? found)?.prototype : undefined;
    const runTests = prototype?.runTests;
    if (typeof runTests !== 'function' || watched.has(prototype)) return found;
    watched.add(prototype);
    prototype.runTests = function (...given) {
      const options = given.at(-1);
      return apply(runTests, this, options?.serial && !this.isSerial ? [...given.slice(0, -1), { ...options, serial: false }] : given);
    };
    return found;
  };
}`;
