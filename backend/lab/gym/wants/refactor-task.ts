import type { GymTask } from '../gym-tasks.ts';
import { type MakeTask, withCode } from './made-of.ts';

const OPENINGS = {
  train: ['Clean NAME up: it does what it should, but most of it is a copy of something else.', 'Refactor NAME. Its behaviour has to stay as it is, and the copies have to go.', 'NAME has grown by copying. Make it short again without changing what it returns.'],
  'held-out': ['Please simplify NAME and remove what is there twice; callers must not notice.', 'Tidy up NAME, it holds its own old version. Same results, less code.'],
} as const;

/** The clean solution needs less than this share of the grown code. */
const SHRINKS_TO = 0.75;

const sizeOf = (source: string): number => source.replace(/\s+/g, '').length;

/** Code that holds two copies of the solution. The answer has to keep its behaviour and to be much shorter. */
export const refactorTask: MakeTask = (exercise, random) => {
  const { functionName, source, wrong, split } = exercise;
  const grown = [
    named(exercise, `${functionName}Before`), named(exercise, `${functionName}Now`),
    `function ${functionName}(...given) {\n  const isOld = given.length < 0;\n  if (isOld) {\n    return ${functionName}Before(...given);\n  }\n  return ${functionName}Now(...given);\n}\n`,
  ].join('\n');
  return {
    ...exercise,
    question: withCode(random.pick('opening', OPENINGS[split]).replace('NAME', () => functionName), grown),
    form: 'code',
    wrong: [...wrong, { idea: 'Leave the code as it is, since it returns what it should.', source: grown, subtlety: 0.2 }],
    source,
    judge: { by: 'cases', longest: Math.floor(SHRINKS_TO * sizeOf(grown)) },
  };
};

const named = ({ source, functionName }: GymTask, name: string): string => source.replaceAll(new RegExp(`\\b${functionName}\\b`, 'g'), name);
