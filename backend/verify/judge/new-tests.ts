import { counted } from '../../common/counted.ts';
import { counts } from '../../protocol/test-changes.ts';
import type { TestChange } from '../../protocol/verdict.ts';
import type { BaseRun } from './base-run-cache.ts';
import { judge, type JudgedRun, type Judgement } from './judge.ts';

/**
 * Says how the tests end that an answer adds. They are its own, so that they pass proves nothing: they are never verified.
 * @param after with the new tests
 * @param where what they ran on, such as `on the code as it is`
 */
export function judgeNewTests(before: BaseRun, after: JudgedRun, where: string): Judgement {
  const { tests } = judge(before.report, after, { flaky: before.flaky, leftOut: before.leftOut });
  const { ran, against } = found(tests, where);
  if (against !== undefined) return { verified: false, score: 0, outcome: 'failed', reason: against, tests };
  if (ran === 0) return { verified: false, score: 0, outcome: 'failed', reason: NONE_RAN, tests };
  return { verified: false, score: 0, outcome: 'passes', reason: `${allPass(ran)} ${where}. Whether ${ran === 1 ? 'it notices' : 'they notice'} a fault was not tried.`, tests };
}

/**
 * What the tests that come with a change add to the judgement that the project's tests have given of it.
 * @param after with the change and the new tests
 * @param alone with the new tests and without the change; undefined if they could not run so
 */
export function judgeTestsBeside(
  judged: Judgement, before: BaseRun, { after, alone }: { readonly after: JudgedRun; readonly alone: JudgedRun | undefined },
): { readonly judgement: Judgement; readonly note?: string } {
  const { tests } = judge(before.report, after, { flaky: before.flaky, leftOut: before.leftOut });
  // What the change mends without its tests, it has to mend with them.
  const mended = new Set(judged.tests.flatMap(({ id, after: is }) => (is === 'passed' ? [id] : [])));
  const { ran, against } = found(tests, 'with the change', mended);
  if (against !== undefined) return { judgement: { ...judged, verified: false, score: 0, outcome: 'failed', reason: against, tests } };
  if (ran === 0) return { judgement: judged, note: NONE_RAN };
  const isNew = new Set(tests.flatMap(({ id, before: was }) => (was === 'missing' ? [id] : [])));
  const notice = alone === undefined ? ran : ran - alone.report.results.filter(({ id, kind, status }) => kind === 'test' && status === 'passed' && isNew.has(id)).length;
  const without = ran === 1 ? (notice === 1 ? 'fails' : 'passes, too') : notice === 0 ? 'all of them pass, too' : `${notice} of them ${notice === 1 ? 'fails' : 'fail'}`;
  return { judgement: { ...judged, tests: [...judged.tests, ...tests.filter(({ id }) => isNew.has(id))] }, note: `${allPass(ran)} with the change. Without it, ${ran === 1 ? 'it ' : ''}${without}.` };
}

const allPass = (ran: number): string => (ran === 1 ? 'The new test passes' : `All ${ran} new tests pass`);

const NONE_RAN = 'The test command runs none of the new tests.';

/** How many of the new tests ran, and what they say against the change. */
function found(tests: readonly TestChange[], where: string, mended?: ReadonlySet<string>): { readonly ran: number; readonly against?: string } {
  const counting = tests.filter(counts);
  const lost = counting.filter((test) => (test.before === 'passed' || mended?.has(test.id)) && test.after !== 'passed').length;
  const added = counting.filter((test) => test.before === 'missing');
  const red = added.filter((test) => test.after === 'failed').length;
  const ran = added.filter((test) => test.after === 'passed').length + red;
  if (lost > 0) return { ran, against: `${mended ? 'With the new tests' : 'With the answer'}, ${counted(lost, 'test')} that passed ${mended ? 'without them' : 'before'} ${lost === 1 ? 'does' : 'do'} not pass any more.` };
  if (red > 0) return { ran, against: `Of ${counted(ran, 'new test')}, ${red} ${red === 1 ? 'fails' : 'fail'} ${where}: a new test is wrong, or it found a fault.` };
  return { ran };
}
