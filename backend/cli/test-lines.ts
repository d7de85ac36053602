import { counted } from '../common/counted.ts';
import { changeKind, isRed, type ChangeKind } from '../protocol/test-changes.ts';
import type { TestChange, TestStatus } from '../protocol/verdict.ts';
import { oneLine, type Style } from './terminal.ts';

const WIDTH = 100;
const ID_WIDTH = 64;
/** So many tests are told of one by one. */
const MAX_TESTS = 40;

/** What became of tests, a line each for those that are not as they were: what speaks against the change first, and the rest as numbers. */
export function testLines(tests: readonly TestChange[], style: Style): string[] {
  const ofKind = (...kinds: ChangeKind[]): TestChange[] => tests.filter((test) => kinds.includes(changeKind(test)));
  const changed = [...tests.filter(isRed), ...ofKind('mended', 'added', 'flaky')];
  const told = changed.slice(0, MAX_TESTS);
  const [kept, notRun] = [ofKind('kept').length, ofKind('not-run').length];
  return [
    ...told.map((test) => testLine(test, style)),
    ...(changed.length > told.length ? [style('dim', `and ${changed.length - told.length} more`)] : []),
    ...(kept > 0 ? [style('dim', `${column(counted(kept, 'other'))}  passed  → passed`)] : []),
    ...(notRun > 0 ? [style('dim', `${notRun} did not run`)] : []),
    ...told.filter((test) => isRed(test) && test.message)
      .map(({ id, message = '' }) => style('dim', `${oneLine(id, ID_WIDTH)}: ${oneLine(message, WIDTH)}`)),
  ];
}

const column = (text: string): string => oneLine(text, ID_WIDTH).padEnd(ID_WIDTH);

function testLine({ id, before, after, flaky }: TestChange, style: Style): string {
  const colour = (status: TestStatus): 'green' | 'red' => (status === 'passed' ? 'green' : 'red');
  const left = flaky ? style('yellow', ' (flaky, left out)') : '';
  return `${column(id)}  ${style(colour(before), before.padEnd(7))} → ${style(colour(after), after)}${left}`;
}
