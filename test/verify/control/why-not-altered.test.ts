import { expect, it } from 'vitest';
import { whyNotAltered } from '../../../backend/verify/control/why-not-altered.ts';
import { RUNNERS } from '../../../backend/verify/runners/runners.ts';

const PATHS = new Set(['src/half.ts', 'src/half.spec.ts', 'test/half.test.js', 'tests/half.yaml']);

it.each([
  ['mocha', 'out/half.spec.js > halves', 'what tests in out/half.spec.js expect cannot be altered, because it is made of other files before they run'],
  ['ctest', 'half', 'what tests of ctest expect cannot be altered, because their sources are not known'],
  ['pytest', 'tests/half.yaml > halves', 'what tests in tests/half.yaml expect cannot be altered, because its language is not read'],
  ['mocha', 'test/half.test.js > halves', 'no test that was fixed has an expected value that can be altered'],
  ['go', 'example.com/half > TestHalf', 'no test that was fixed has an expected value that can be altered'],
])('no expected value of a test of %s was altered, and it is said why: %s', (name, id, why) => {
  const runner = RUNNERS.find((one) => one.name === name);
  expect(runner && whyNotAltered({ ids: [id], paths: PATHS, runner })).toBe(why);
});
