import path from 'node:path';
import { howItLearns, outcomeLines } from '../protocol/learning-words.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { jsonText, printable } from './terminal.ts';
import { followTraining } from './train-command.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  workspace: { type: 'string', short: 'w' },
  check: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

/** `conductor learn`: has the local Conductor learn from the outcomes in the journal. Nobody is paid. */
export const learnCommand: Command = async (args, context) => {
  const { values: { workspace, check, json }, positionals } = readArguments(args, OPTIONS);
  if (positionals.length > 0) throw new UsageError('"learn" takes no words. Name a project with --workspace.');
  const { terminal, currentFolder, interrupted } = context;
  const scope = workspace === undefined ? {} : { workspace: path.resolve(currentFolder, workspace) };
  const client = await context.connect();
  try {
    const found = await client.request('training/outcomes', scope);
    if (check && json) terminal.result(jsonText(found, 2));
    else for (const line of outcomeLines(found)) terminal.say(printable(line));
    if (found.missing !== undefined && !(check && json)) terminal.say(printable(found.missing));
    if (found.missing !== undefined) return EXIT.failed;
    if (check) return EXIT.ok;
    terminal.say(printable(`"${found.conductor}" learns from them; nobody is paid. ${howItLearns(found.own)}`));
    interrupted.throwIfAborted();
    const { trainingId } = await client.request('training/learn', scope);
    return await followTraining(client, trainingId, { json, budget: {} }, context);
  } finally {
    client.close();
  }
};
