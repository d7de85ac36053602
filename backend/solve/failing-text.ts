import { counted } from '../common/counted.ts';
import { redact, redactText } from '../context/secrets.ts';
import type { BaseResult, FailingTest } from '../protocol/run-events.ts';

/* The tests that fail on the code as it is, as models are told. What tests print is untrusted: it is bounded, and secrets are left out. */

/** Of more failing tests, the first ones show the cause. */
const MAX_TESTS = 10;
const MAX_MESSAGE_LINES = 4;
const MAX_LINE_LENGTH = 200;

/** Empty if no test is known to fail. */
export function failingText({ total, failed, failing }: Pick<BaseResult, 'total' | 'failed' | 'failing'>): string {
  if (failed === 0) return '';
  const named = failing.slice(0, MAX_TESTS);
  return [
    `Of ${counted(total, 'test')} on the code as it is, ${failed} ${failed === 1 ? 'fails' : 'fail'}:`,
    ...named.flatMap(testLines),
    ...(failed > named.length ? [`- and ${failed - named.length} more`] : []),
  ].join('\n');
}

function testLines({ id, message = '', places: [place] }: FailingTest): string[] {
  const where = place ? ` (${place.path}:${place.startLine})` : '';
  // Before anything is cut: a part of a key does not look like one.
  const said = redactText(message).split('\n').map((line) => line.trimEnd()).filter((line) => line.trim() !== '').slice(0, MAX_MESSAGE_LINES);
  return [`- ${clipped(redact([id]).lines.join(''))}${where}`, ...said.map((line) => `  ${clipped(line)}`)];
}

const clipped = (line: string): string => (line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…` : line);
