import path from 'node:path';
import { counted } from '../common/counted.ts';
import { checkOptions, readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { jsonText, printable } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = { workspace: { type: 'string', short: 'w' }, json: { type: 'boolean' } } as const;

/** The actions that accept each option. */
const OPTION_ACTIONS = { workspace: ['list', 'take-back'], json: ['list'] } as const satisfies Record<keyof typeof OPTIONS, readonly string[]>;

/** `conductor left-out [list|take-back]`: the tests of a project that a person left out of verdicts while they fail. */
export const leftOutCommand: Command = async (args, { terminal, currentFolder, connect }) => {
  const { values, positionals: [action = 'list', ...tests] } = readArguments(args, OPTIONS);
  if (action !== 'list' && action !== 'take-back') throw new UsageError(`There is no "left-out ${action}"; there are list, take-back.`);
  if (action === 'list' && tests.length > 0) throw new UsageError('"left-out list" takes no more words. Name a project with --workspace.');
  checkOptions('left-out', action, values, OPTION_ACTIONS);
  const workspace = path.resolve(currentFolder, values.workspace ?? '.');
  const client = await connect();
  try {
    if (action === 'take-back') {
      const { tests: count } = await client.request('leftOut/takeBack', { workspace, ...(tests.length > 0 && { tests }) });
      terminal.say(`${counted(count, 'test')} ${count === 1 ? 'counts' : 'count'} again in questions about ${printable(workspace)}.`);
      return EXIT.ok;
    }
    const leftOut = await client.request('leftOut/get', { workspace });
    if (values.json) terminal.result(jsonText(leftOut, 2));
    else if (leftOut.tests.length === 0) terminal.say(`No test is left out in ${printable(workspace)}.`);
    else for (const test of leftOut.tests) terminal.result(printable(test));
    return EXIT.ok;
  } finally {
    client.close();
  }
};
