import type { TestCase } from '../../../verify/graders/code/cases-grader.ts';
import { resultOf, type WrongSolution } from '../gym-tasks.ts';
import { callsOf, type MakeTask, withCode } from './made-of.ts';

/** Something that can be added to any function. NAME is the function, ADDED the new one. */
interface Feature {
  readonly suffix: string;
  readonly asked: string;
  readonly approach: string;
  readonly body: string;
  readonly wrong: readonly (Omit<WrongSolution, 'source'> & { readonly body: string })[];
}

const EACH: Feature = {
  suffix: 'OfEach',
  asked: 'ADDED(calls) takes a list of lists of arguments and returns the result of NAME for each, in order, with null where NAME throws or returns nothing.',
  approach: 'Call it for every list of arguments in turn, catch what it throws, and put null where nothing comes back.',
  body: 'return calls.map((given) => { try { return NAME(...given) ?? null; } catch { return null; } });',
  wrong: [
    { idea: 'Take the calls from the last to the first.', subtlety: 0.3, body: 'return [...calls].reverse().map((given) => { try { return NAME(...given) ?? null; } catch { return null; } });' },
    { idea: 'Pass each list on as one argument.', subtlety: 0.5, body: 'return calls.map((given) => { try { return NAME(given) ?? null; } catch { return null; } });' },
    { idea: 'Equal lists of arguments need to be called once only.', subtlety: 0.6, body: 'const seen = new Map(calls.map((given) => [JSON.stringify(given), given]));\n  return [...seen.values()].map((given) => { try { return NAME(...given) ?? null; } catch { return null; } });' },
    { idea: 'An empty list of calls has no result: null.', subtlety: 0.6, body: 'if (calls.length === 0) return null;\n  return calls.map((given) => { try { return NAME(...given) ?? null; } catch { return null; } });' },
  ],
};

const COUNTS: Feature = {
  suffix: 'Counts',
  asked: 'ADDED(calls) takes a list of lists of arguments and returns how many different results NAME has for them, compared as JSON.',
  approach: 'Call it for every list of arguments, write each result as JSON, and count the different ones.',
  body: 'return new Set(calls.map((given) => String(JSON.stringify(NAME(...given))))).size;',
  wrong: [
    { idea: 'Compare the results themselves; lists with equal entries are then different.', subtlety: 0.7, body: 'return new Set(calls.map((given) => NAME(...given))).size;' },
    { idea: 'Count the calls; each has a result.', subtlety: 0.4, body: 'return calls.length;' },
    { idea: 'Count different lists of arguments.', subtlety: 0.6, body: 'return new Set(calls.map((given) => JSON.stringify(given))).size;' },
    { idea: 'The first result is no different one.', subtlety: 0.5, body: 'return Math.max(0, new Set(calls.map((given) => String(JSON.stringify(NAME(...given))))).size - 1);' },
  ],
};

const FIRST: Feature = {
  suffix: 'FirstAt',
  asked: 'ADDED(calls) takes a list of lists of arguments and returns the position, from 0, of the last call whose result is that of the first call (as JSON), or -1 for no calls.',
  approach: 'Write the result of every call as JSON and look from the end for the one that the first call has.',
  body: 'const results = calls.map((given) => String(JSON.stringify(NAME(...given))));\n  return results.length === 0 ? -1 : results.lastIndexOf(results[0]);',
  wrong: [
    { idea: 'Look from the beginning, without the first call itself.', subtlety: 0.6, body: 'const results = calls.map((given) => String(JSON.stringify(NAME(...given))));\n  return results.length === 0 ? -1 : Math.max(0, results.indexOf(results[0], 1));' },
    { idea: 'Without calls the position is 0.', subtlety: 0.6, body: 'const results = calls.map((given) => String(JSON.stringify(NAME(...given))));\n  return Math.max(0, results.lastIndexOf(results[0]));' },
    { idea: 'Positions begin with 1.', subtlety: 0.4, body: 'const results = calls.map((given) => String(JSON.stringify(NAME(...given))));\n  return results.length === 0 ? -1 : results.lastIndexOf(results[0]) + 1;' },
    { idea: 'The position wanted is that of the last call.', subtlety: 0.5, body: 'return calls.length - 1;' },
  ],
};

const AGREES: Feature = {
  suffix: 'Shares',
  asked: 'ADDED(calls) takes a list of lists of arguments and returns for each of them, in order, how many of the calls have the same result of NAME (as JSON), itself included.',
  approach: 'Write the result of every call as JSON and, for each, count the equal ones among all of them.',
  body: 'const results = calls.map((given) => String(JSON.stringify(NAME(...given))));\n  return results.map((one) => results.filter((other) => other === one).length);',
  wrong: [
    { idea: 'Count only the other calls, not the call itself.', subtlety: 0.5, body: 'const results = calls.map((given) => String(JSON.stringify(NAME(...given))));\n  return results.map((one) => results.filter((other) => other === one).length - 1);' },
    { idea: 'Count equal ones among the calls before.', subtlety: 0.6, body: 'const results = calls.map((given) => String(JSON.stringify(NAME(...given))));\n  return results.map((one, at) => results.slice(0, at + 1).filter((other) => other === one).length);' },
    { idea: 'Each different result counts once in what is returned.', subtlety: 0.5, body: 'const results = calls.map((given) => String(JSON.stringify(NAME(...given))));\n  return [...new Set(results)].map((one) => results.filter((other) => other === one).length);' },
    { idea: 'Without calls there is one share of 0.', subtlety: 0.6, body: 'if (calls.length === 0) return [0];\n  const results = calls.map((given) => String(JSON.stringify(NAME(...given))));\n  return results.map((one) => results.filter((other) => other === one).length);' },
  ],
};

const FEATURES = { train: [EACH, COUNTS], 'held-out': [FIRST, AGREES] } as const;

const OPENINGS = {
  train: ['Add a function beside NAME:', 'Our module has NAME. Extend it:', 'New feature, please:'],
  'held-out': ['NAME should get a companion.', 'Please build this on top of NAME.'],
} as const;

/** A function to be added to one that exists. Its tests are hidden. */
export const featureTask: MakeTask = (exercise, random) => {
  const { functionName, source, split } = exercise;
  const feature = random.pick('feature', FEATURES[split]);
  const added = `${functionName}${feature.suffix}`;
  const filled = (text: string): string => text.replaceAll('NAME', () => functionName).replaceAll('ADDED', () => added);
  const sourceWith = (body: string): string => `${source}\nfunction ${added}(calls) {\n  ${filled(body)}\n}\n`;
  const right = sourceWith(feature.body);
  const calls = callsOf(exercise).map(({ given }) => given);
  const inputs = [[...calls, ...calls.slice(0, 2)], calls.slice(0, 1), [], [...calls.slice(1), ...calls].slice(0, 5)];
  const expected = inputs.map((input) => resultOf(right, added, [input]));
  const wrong = feature.wrong.map(({ body, ...rest }) => ({ ...rest, source: sourceWith(body) }))
    .filter((one) => inputs.some((input, at) => resultOf(one.source, added, [input]) !== expected[at]));
  if (wrong.length < 3 || expected.some((result) => result.startsWith('throws'))) return undefined;
  const cases: TestCase[] = inputs.map((input, at) => ({ input: JSON.stringify(input), output: expected[at] as string }));
  return {
    ...exercise,
    question: withCode(filled(`${random.pick('opening', OPENINGS[split])} ${feature.asked}`), source),
    form: 'code', functionName: added, source: right, approach: feature.approach, wrong, cases, judge: { by: 'cases' },
  };
};
