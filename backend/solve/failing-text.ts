import { counted } from '../common/counted.ts';
import { redact, redactText } from '../common/secrets/secrets.ts';
import type { BaseResult, FailingTest } from '../protocol/run-events.ts';
import { tellingLine } from '../protocol/telling-line.ts';

/* The tests that fail on the code as it is, as models are told. What tests print is untrusted: it is bounded, and secrets are left out. */

/** Of more failing tests, the first ones show the cause. */
const MAX_TESTS = 10;
/** Lines of all messages together; a test that fails alone may say more. */
const MAX_LINES = 40;
const MAX_LINE_LENGTH = 200;

/** Empty if no test is known to fail. */
export function failingText({ total, failed, failing }: Pick<BaseResult, 'total' | 'failed' | 'failing'>): string {
  if (failed === 0) return '';
  const named = failing.slice(0, MAX_TESTS);
  return [
    `Of ${counted(total, 'test')} on the code as it is, ${failed} ${failed === 1 ? 'fails' : 'fail'}:`,
    ...named.flatMap((test) => testLines(test, Math.floor(MAX_LINES / named.length))),
    ...(failed > named.length ? [`- and ${failed - named.length} more`] : []),
  ].join('\n');
}

function testLines({ id, message = '', places: [place] }: FailingTest, most: number): string[] {
  const where = place ? ` (${place.path}:${place.startLine})` : '';
  // Before anything is cut: a part of a key does not look like one.
  const safe = redactText(message);
  const said = safe.split('\n').map((line) => line.trimEnd()).filter((line) => line.trim() !== '').slice(0, most);
  const telling = tellingLine(safe);
  const shown = telling === '' || said.some((line) => line.trim() === telling) ? said : [...said.slice(0, most - 1), telling];
  return [`- ${clipped(redact([id]).lines.join(''))}${where}`, ...shown.map((line) => `  ${clipped(line)}`)];
}

const clipped = (line: string): string => (line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH - 1)}…` : line);
