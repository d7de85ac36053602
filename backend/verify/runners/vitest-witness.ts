/**
 * What a worker of vitest does to be a witness. Every vitest, from the first to the fifth, keeps the function of a test in a WeakMap whose
 * key is the test, so it is seen there, before any file of tests is loaded. Of a pool with contexts of its own, these are watched, too.
 *
 * A test that is to fail (`it.fails`) is right if its function throws. Which tests are, is looked at when they are declared.
 */
export const VITEST_WITNESS = `
  const vm = require('vm');
  const { setPrototypeOf } = Object;
  let tests = 0;
  let hasTold = false;
  const pathOf = (task) => {
    const names = setPrototypeOf([], null);
    let length = 0;
    for (let at = task; at && length < 100; at = at.suite) names[length++] = String(at.name);
    return names;
  };
  const witnessed = (task, run) => {
    const test = tests++;
    const isToFail = task.fails === true;
    const tell = (hasFailed) => line({
      __proto__: null, type: 'ran', worker: line.run, test, file: task.file?.filepath, path: pathOf(task), passed: (hasFailed || task.result?.state === 'fail') === isToFail,
    });
    return async function (...given) {
      try {
        const result = await apply(run, this, given);
        tell(false);
        return result;
      } catch (error) {
        tell(true);
        throw error;
      }
    };
  };
  const watchMaps = (prototype) => {
    const { set } = prototype;
    prototype.set = function (key, value) {
      // The suite around all tests of a file, which is there before the file is loaded.
      if (!hasTold && key?.type === 'suite') {
        hasTold = true;
        line({ __proto__: null, type: 'watched' });
      }
      const isTest = typeof value === 'function' && (key?.type === 'test' || key?.type === 'custom') && 'mode' in key;
      return apply(set, this, [key, isTest ? witnessed(key, value) : value]);
    };
  };
  watchMaps(WeakMap.prototype);
  const { createContext, runInContext } = vm;
  vm.createContext = function (...given) {
    const context = apply(createContext, this, given);
    watchMaps(runInContext('WeakMap.prototype', context));
    return context;
  };
  syncBuiltinESMExports();
`;
