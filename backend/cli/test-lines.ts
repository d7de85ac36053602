import { counted } from '../common/counted.ts';
import { tellingLine } from '../protocol/telling-line.ts';
import { changeKind, isRed, type ChangeKind } from '../protocol/test-changes.ts';
import type { TestChange, TestStatus } from '../protocol/verdict.ts';
import { oneLine, type Style } from './terminal.ts';

const WIDTH = 100;
const ID_WIDTH = 64;
/** Maximum number of tests that are listed individually. */
const MAX_TESTS = 40;

/** One line for each test whose result changed, failures of the change first. The other tests are only counted. */
export function testLines(tests: readonly TestChange[], style: Style): string[] {
  const ofKind = (...kinds: ChangeKind[]): TestChange[] => tests.filter((test) => kinds.includes(changeKind(test)));
  const changed = [...tests.filter(isRed), ...ofKind('mended', 'added', 'flaky', 'left-out')];
  const listed = changed.slice(0, MAX_TESTS);
  const [kept, notRun] = [ofKind('kept').length, ofKind('not-run').length];
  return [
    ...listed.map((test) => testLine(test, style)),
    ...(changed.length > listed.length ? [style('dim', `and ${changed.length - listed.length} more`)] : []),
    ...(kept > 0 ? [style('dim', `${column(counted(kept, 'other'))}  passed  → passed`)] : []),
    ...(notRun > 0 ? [style('dim', `${notRun} did not run`)] : []),
    ...listed.filter((test) => isRed(test) && test.message)
      .map(({ id, message = '' }) => style('dim', `${oneLine(id, ID_WIDTH)}: ${oneLine(tellingLine(message), WIDTH)}`)),
  ];
}

const column = (text: string): string => oneLine(text, ID_WIDTH).padEnd(ID_WIDTH);

function testLine({ id, before, after, flaky, leftOut }: TestChange, style: Style): string {
  const colour = (status: TestStatus): 'green' | 'red' => (status === 'passed' ? 'green' : 'red');
  const left = leftOut ? style('dim', ' (left out)') : flaky ? style('yellow', ' (flaky, left out)') : '';
  return `${column(id)}  ${style(colour(before), before.padEnd(7))} → ${style(colour(after), after)}${left}`;
}
