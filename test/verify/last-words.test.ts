import { expect, it } from 'vitest';
import { lastWords } from '../../backend/verify/judge/last-words.ts';

const told = (stdout: string): string => lastWords({ exitCode: 1, stdout, stderr: '', durationMs: 1, sandboxed: true });

it('tells the line that names the error, of an end that does not', () => {
  const end = 'x'.repeat(500);
  for (const line of ['TypeError: x is not a function', 'E   a.b.CustomError (in t): no', 'Errors: none. An Error: yes'])
    expect(told(`before\n  ${line}\n${end}`)).toBe(` Output of the command: ${line}\n…\n${end}`);
  for (const line of ['Errors: none', 'note: an Error', 'Error:none'])
    expect(told(`${line}\n${end}`)).toBe(` Output of the command: ${end}`);
});

it('reads a line of many errors that say nothing', () => {
  expect(told(`${'Error:'.repeat(500_000)}\n${'x'.repeat(500)}`)).toMatch(/: x+$/);
});
