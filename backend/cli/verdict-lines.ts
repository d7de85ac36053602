import { formatDuration, plural } from '../protocol/figures.ts';
import type { TestChange, Verdict } from '../verify/verdict.ts';
import { oneLine, type Style } from './terminal.ts';

const WIDTH = 100;
const LABEL_WIDTH = 16;
const ID_WIDTH = 64;

type ShownVerdict = Omit<Verdict, 'command'> & { readonly command: string | null };

/** A verdict for people: what came out and why first, then the tests that are not as they were. */
export function verdictLines(verdict: ShownVerdict, style: Style): string[] {
  const { tests, notes, command, sandboxed, durationMs } = verdict;
  const lines: string[] = [];
  const line = (label: string, text: string): void => void lines.push(`${style('dim', label.padEnd(LABEL_WIDTH))}${text}`);
  line(...outcomeLine(verdict, style));
  if (command !== null) line('Tests', `${oneLine(command, 80)}${sandboxed ? '' : style('yellow', ' (without a sandbox)')}`);
  const changed = tests.filter(({ before, after }) => before !== 'passed' || after !== 'passed');
  const others = tests.length - changed.length;
  for (const test of changed) line('', testLine(test, style));
  if (others > 0) line('', style('dim', `${column(plural(others, 'other'))}  passed  → passed`));
  for (const { id, after, message } of changed)
    if (after !== 'passed' && message) line('', style('dim', `${oneLine(id, ID_WIDTH)}: ${oneLine(message, WIDTH)}`));
  notes.forEach((note, index) => line(index === 0 ? 'Notes' : '', note));
  if (durationMs > 0) line('Took', formatDuration(durationMs));
  return lines;
}

function outcomeLine({ outcome, reason }: ShownVerdict, style: Style): [label: string, text: string] {
  switch (outcome) {
    case 'verified':
      return ['Verified', style('green', `✓ ${reason}`)];
    case 'failed':
      return ['Failed', style('red', `✗ ${reason}`)];
    case 'refused':
      return ['Refused', style('yellow', reason)];
    case 'infrastructure':
      return ['Infrastructure', style('yellow', reason)];
  }
}

const column = (text: string): string => oneLine(text, ID_WIDTH).padEnd(ID_WIDTH);

function testLine({ id, before, after, flaky }: TestChange, style: Style): string {
  const colour = (status: string): 'green' | 'red' => (status === 'passed' ? 'green' : 'red');
  const mark = flaky ? style('dim', ' (flaky)') : '';
  return `${column(id)}  ${style(colour(before), before.padEnd(7))} → ${style(colour(after), after)}${mark}`;
}
