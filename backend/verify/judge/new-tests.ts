import { counted } from '../../common/counted.ts';
import type { BaseRun } from './base-run-cache.ts';
import { judge, type JudgedRun, type Judgement } from './judge.ts';

/**
 * Says how the tests end that an answer adds. They are its own, so that they pass proves nothing: they are never verified.
 * @param after with the new tests
 * @param where what they ran on, such as `on the code as it is`
 */
export function judgeNewTests(before: BaseRun, after: JudgedRun, where: string): Judgement {
  const { tests } = judge(before.report, after, { flaky: before.flaky });
  const failed = (reason: string): Judgement => ({ verified: false, score: 0, outcome: 'failed', reason, tests });
  const counting = tests.filter(({ flaky }) => !flaky);
  const lost = counting.filter((test) => test.before === 'passed' && test.after !== 'passed').length;
  if (lost > 0) return failed(`With the answer, ${counted(lost, 'test')} that passed before ${lost === 1 ? 'does' : 'do'} not pass any more.`);
  const added = counting.filter((test) => test.before === 'missing');
  const red = added.filter((test) => test.after === 'failed').length;
  const ran = added.filter((test) => test.after === 'passed').length + red;
  if (ran === 0) return failed('The test command runs none of the new tests.');
  if (red > 0) return failed(`Of ${counted(ran, 'new test')}, ${red} ${red === 1 ? 'fails' : 'fail'} ${where}: a new test is wrong, or it found a fault.`);
  return { verified: false, score: 0, outcome: 'passes', reason: `${ran === 1 ? 'The new test passes' : `All ${ran} new tests pass`} ${where}. Whether they notice a fault was not tried.`, tests };
}
