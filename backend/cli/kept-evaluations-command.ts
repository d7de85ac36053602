import path from 'node:path';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import type { EvaluationSummary } from '../protocol/evaluations.ts';
import { formatUsd, formatWhen } from '../protocol/figures.ts';
import { readArguments } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { jsonText, oneLine, printable } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  json: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
} as const;

/** The words after `conductor eval` that are no tasks. A file of such a name is `./list`. */
export const KEPT_ACTIONS: readonly string[] = ['list', 'remove'];

/** `conductor eval list` and `conductor eval remove EVALUATION`: the evaluations that are kept, also those of VS Code. */
export const keptEvaluationsCommand: Command = async ([action, ...args], context) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  const isList = action === 'list';
  if (positionals.length !== (isList ? 0 : 1)) throw new UsageError(isList ? '"eval list" takes no evaluation.' : 'Name one evaluation or its folder: conductor eval remove EVALUATION');
  const client = await context.connect();
  try {
    const { evaluations } = await client.request('evaluation/list', {});
    if (isList) list(evaluations, values.json ?? false, context);
    else await remove(client, named(positionals[0] ?? '', evaluations, context), values.yes ?? false, context);
    return EXIT.ok;
  } finally {
    client.close();
  }
};

function list(evaluations: readonly EvaluationSummary[], json: boolean, { terminal }: CommandContext): void {
  if (json) terminal.result(jsonText(evaluations, 2));
  else if (evaluations.length === 0) terminal.say('No evaluation is kept: conductor eval');
  for (const { folder, state, sources, done, all, spentUsd, startedAt, simulated } of json ? [] : evaluations) {
    const figures = `${done} of ${all} answers  ${formatUsd(spentUsd)}  ${formatWhen(startedAt, Date.now())}`;
    terminal.result(`${path.basename(folder)}  ${state}${simulated ? ', simulated' : ''}  ${figures}  ${oneLine(sources.join(', '), 100)}`);
  }
}

/** The folder of an evaluation that is named as in the list, or by any folder. */
function named(name: string, evaluations: readonly EvaluationSummary[], { currentFolder }: CommandContext): string {
  return evaluations.find(({ folder }) => path.basename(folder) === name)?.folder ?? path.resolve(currentFolder, name);
}

async function remove(client: BackendClient, folder: string, yes: boolean, { terminal, interrupted }: CommandContext): Promise<void> {
  const { spentUsd, sources } = await client.request('evaluation/get', { folder });
  terminal.say(printable(`The evaluation of ${sources.join(', ')} in ${folder}, with its results and its answers, which have cost ${formatUsd(spentUsd)}.`));
  if (!yes && !(await terminal.ask?.('Remove it for good?', interrupted))) throw new UsageError('The evaluation was not removed. To remove it without a question, use --yes.');
  await client.request('evaluation/remove', { folder });
  terminal.say('Removed.');
}
