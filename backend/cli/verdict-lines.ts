import { formatDuration } from '../protocol/figures.ts';
import { toolText } from '../protocol/tool-text.ts';
import type { Verdict } from '../protocol/verdict.ts';
import { oneLine, type Style } from './terminal.ts';
import { testLines } from './test-lines.ts';

const LABEL_WIDTH = 16;

type ShownVerdict = Omit<Verdict, 'command'> & { readonly command: string | null };

/** A verdict as text: first the outcome and its reason, then the tests whose results changed. */
export function verdictLines(verdict: ShownVerdict, style: Style): string[] {
  const { tests, notes, command, tools = [], sandboxed, durationMs } = verdict;
  const lines: string[] = [];
  const line = (label: string, text: string): void => void lines.push(`${style('dim', label.padEnd(LABEL_WIDTH))}${text}`);
  line(...outcomeLine(verdict, style));
  if (command !== null) line('Tests', `${oneLine(command, 80)}${sandboxed ? style('dim', ', in the sandbox') : style('yellow', ' (without a sandbox)')}`);
  tools.forEach((tool, index) => line(index === 0 ? 'With' : '', oneLine(toolText(tool), 160)));
  for (const text of testLines(tests, style)) line('', text);
  notes.forEach((note, index) => line(index === 0 ? 'Notes' : '', note));
  if (durationMs > 0) line('Took', formatDuration(durationMs));
  return lines;
}

function outcomeLine({ outcome, reason }: ShownVerdict, style: Style): [label: string, text: string] {
  switch (outcome) {
    case 'verified':
      return ['Verified', style('green', `✓ ${reason}`)];
    case 'passes':
      return ['Passes', style('yellow', `${reason}`)];
    case 'failed':
      return ['Failed', style('red', `✗ ${reason}`)];
    case 'refused':
      return ['Refused', style('yellow', reason)];
    case 'infrastructure':
      return ['Unchecked', style('yellow', reason)];
  }
}
