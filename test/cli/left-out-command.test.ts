import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandContext } from '../../backend/cli/command.ts';
import { leftOutCommand } from '../../backend/cli/left-out-command.ts';
import type { Terminal } from '../../backend/cli/terminal.ts';
import { UsageError } from '../../backend/cli/usage-error.ts';
import { serve, type Serving } from '../server/support/serving.ts';

/* The command against a real server; only the terminal and the runs are this test's. */

let serving: Serving;
beforeEach(async () => { serving = await serve(); });
afterEach(() => serving.close());

async function leftOut(...args: string[]) {
  const output = { result: '', said: '' };
  const terminal: Pick<Terminal, 'result' | 'say'> = {
    result: (text) => { output.result += `${text}\n`; },
    say: (text) => { output.said += `${text}\n`; },
  };
  const code = await leftOutCommand(args, { terminal: terminal as Terminal, currentFolder: '/project', connect: () => serving.open() } as CommandContext);
  return { code, ...output };
}

it('lists the tests of this project or another one, and has them count again, some or all', async () => {
  serving.runs.leftOut.set('/project', ['a > b', 'c', 'd\u001b[31m']);
  expect(await leftOut()).toEqual({ code: 0, result: 'a > b\nc\nd[31m\n', said: '' });
  expect((await leftOut('list', '-w', '../other')).said).toBe('No test is left out in /other.\n');
  expect((await leftOut('take-back', 'a > b')).said).toBe('1 test counts again in questions about /project.\n');
  expect(JSON.parse((await leftOut('--json')).result)).toEqual({ tests: ['c', 'd\u001b[31m'] });
  expect((await leftOut('take-back')).said).toBe('2 tests count again in questions about /project.\n');
  expect((await leftOut()).said).toBe('No test is left out in /project.\n');
});

it.each([['forget'], ['list', 'a'], ['take-back', '--json']])('refuses %s %s', async (...args) => {
  await expect(leftOut(...args)).rejects.toThrow(UsageError);
});
