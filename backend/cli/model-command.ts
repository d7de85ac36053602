import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { MODEL_ACTION_OPTIONS, type ModelAction } from './model-action.ts';
import { chooseModel } from './model-choose.ts';
import { inspectModel } from './model-inspect.ts';
import { listModels } from './model-list.ts';
import { pullNamedModel } from './model-pull.ts';
import { UsageError } from './usage-error.ts';

const ACTIONS: Readonly<Record<string, ModelAction>> = {
  list: listModels, inspect: inspectModel, pull: pullNamedModel, choose: chooseModel,
};

/** `conductor model [list|inspect|pull|choose]`: the models on this machine and those recommended for download. */
export const modelCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, MODEL_ACTION_OPTIONS);
  const [name = 'list', model, ...rest] = positionals;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) throw new UsageError(`There is no "model ${name}"; there are ${Object.keys(ACTIONS).join(', ')}.`);
  if (rest.length > 0) throw new UsageError(`"model ${name}" takes one model at most (left over: ${rest.join(' ')}).`);
  const foreign = Object.keys(values).find((option) => !action.options.some((known) => known === option));
  if (foreign !== undefined) throw new UsageError(`"model ${name}" has no option --${foreign}.`);
  return action.run(model, values, context);
};
