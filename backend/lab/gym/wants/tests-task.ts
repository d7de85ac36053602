import { resultOf, type GymTask } from '../gym-tasks.ts';
import { callsOf, type MakeTask, withCode } from './made-of.ts';

const OPENINGS = {
  train: ['Write tests for NAME, as assertions of node:assert.', 'NAME has no tests. Please write some that would notice a mistake (node:assert).', 'We need unit tests for NAME; plain assertions are enough.'],
  'held-out': ['Cover NAME with tests: assertions, unusual arguments among them.', 'Can you write the missing tests of NAME (node:assert)?'],
} as const;

/**
 * Tests are the answer. Who has a wrong idea of the function expects wrong results, so wrong answers are the tests of each wrong solution; and
 * a test of one call, which misses faults.
 */
export const testsTask: MakeTask = (exercise, random) => {
  const { functionName, source, wrong, split } = exercise;
  const right = testsOf(exercise, source);
  const made = wrong.map(({ source: other, ...rest }) => ({ ...rest, source: testsOf(exercise, other) })).filter(({ source: tests }) => tests !== right);
  // A call by which not every mutant is noticed.
  const weak = callsOf(exercise).findIndex(({ given }) => {
    const result = resultOf(source, functionName, given);
    return wrong.some((one) => resultOf(one.source, functionName, given) === result);
  });
  const few = weak < 0 ? [] : [{ idea: `One usual call of ${functionName} is enough for a test.`, source: testsOf(exercise, source, weak), subtlety: 0.5 }];
  return {
    ...exercise,
    question: withCode(random.pick('opening', OPENINGS[split]).replace('NAME', () => functionName), source),
    form: 'code',
    source: right,
    wrong: [...made, ...few],
    judge: { by: 'mutants', right: source, mutants: wrong.map((one) => one.source) },
  };
};

/** Tests of all calls, or of one. */
function testsOf(exercise: GymTask, source: string, only?: number): string {
  const asserted = callsOf(exercise).filter((_, index) => index === (only ?? index)).map(({ call, given }) => {
    const result = resultOf(source, exercise.functionName, given);
    return /^(?:throws|undefined)/.test(result) ? `assert.throws(() => ${call});` : `assert.deepEqual(${call}, ${result});`;
  });
  return ['const assert = require(\'node:assert/strict\');', ...asserted, ''].join('\n');
}
