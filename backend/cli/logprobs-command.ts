import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { MODEL_OPTIONS, modelChoice } from './model-options.ts';
import { runModel } from './run-model.ts';
import { jsonText } from './terminal.ts';
import { readTokenFile } from './token-file.ts';
import { UsageError } from './usage-error.ts';

/** `conductor logprobs`: the log-probability of each token after those before it. Needs no tokenizer. */
export const logprobsCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, { ...MODEL_OPTIONS, input: { type: 'string', short: 'i' } });
  if (positionals.length > 0) throw new UsageError(`"logprobs" takes options only (left over: ${positionals.join(' ')}).`);
  const choice = modelChoice(values);
  if (!values.input) throw new UsageError('The file with the token ids is missing: --input FILE.json, or - for standard input.');
  const tokens = await readTokenFile(values.input, context);
  const scores = await runModel(choice, context, ({ model, adapter }) => model.score({ ...tokens, adapter, signal: context.interrupted }));
  context.terminal.result(jsonText({ completion_logprobs: scores }));
  return EXIT.ok;
};
