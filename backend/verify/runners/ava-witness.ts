/**
 * What a worker of ava does to be a witness. ava keeps the test of each `t` in a WeakMap, which it sets before it calls the function of the
 * test. So the end of the test is watched there, before code under test runs in it. Hooks are tests, too, but not of the report.
 */
export const AVA_WITNESS = `
  line({ __proto__: null, type: 'watched' });
  let tests = 0;
  const watched = new WeakSet();
  const { set } = WeakMap.prototype;
  WeakMap.prototype.set = function (key, value) {
    if (typeof value?.finish === 'function' && value.metadata && !value.isHook && !value.metadata.inline && !watched.has(value)) {
      watched.add(value);
      const test = tests++;
      const { finish, title } = value;
      value.finish = async function (...given) {
        const result = await apply(finish, this, given);
        line({ __proto__: null, type: 'ran', worker: line.run, test, path: [String(title)], passed: result.passed });
        return result;
      };
    }
    return apply(set, this, [key, value]);
  };
`;

/** JavaScript: has ava's main process sign what it writes to stdout as TAP. Code under test can write there, too, but not by this function. */
export const AVA_SIGNS = `({ line }) => {
  const write = process.stdout.write;
  process.stdout.write = function (chunk, ...more) {
    line({ __proto__: null, type: 'tap', text: String(chunk) });
    return apply(write, this, [chunk, ...more]);
  };
}`;
