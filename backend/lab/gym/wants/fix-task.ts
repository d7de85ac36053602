import { resultOf, type WrongSolution } from '../gym-tasks.ts';
import { callsOf, type MakeTask, withCode } from './made-of.ts';

const REPORTS = {
  train: ['CALL gives WRONG, but it should be RIGHT.', 'We get WRONG from CALL; RIGHT would be correct. Please fix it.', 'Bug: CALL returns WRONG instead of RIGHT.'],
  'held-out': ['CALL is WRONG here, and RIGHT is what I expect. Can you mend it?', 'Something is off: CALL gave me WRONG, not RIGHT.'],
} as const;

/** A report of a fault, with the code that has it. */
export const fixTask: MakeTask = (exercise, random) => {
  const { functionName, source, wrong, split } = exercise;
  const planted = random.pick('planted', wrong) as WrongSolution;
  const failing = callsOf(exercise).map(({ call, given }) => ({ call, is: resultOf(planted.source, functionName, given), should: resultOf(source, functionName, given) }))
    .filter(({ is, should }) => is !== should);
  const report = random.pick('report', failing);
  if (!report) return undefined;
  const said = random.pick('said', REPORTS[split]).replace('CALL', () => report.call).replace('WRONG', () => report.is).replace('RIGHT', () => report.should);
  return { ...exercise, question: withCode(said, planted.source), form: 'code', judge: { by: 'cases' } };
};
