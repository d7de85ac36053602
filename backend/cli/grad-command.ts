import path from 'node:path';
import { LOSS_TYPES, type LossType, lossWeights } from '../lm/trainer/loss-weights.ts';
import { ADAMW_DEFAULTS } from '../lm/trainer/adamw.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { MODEL_OPTIONS, modelChoice } from './model-options.ts';
import { runModel } from './run-model.ts';
import { jsonText } from './terminal.ts';
import { readTrainingBatch } from './token-file.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  ...MODEL_OPTIONS,
  input: { type: 'string', short: 'i' },
  out: { type: 'string', short: 'o' },
  loss: { type: 'string' },
  'max-completion-length': { type: 'string' },
  temperature: { type: 'string' },
} as const;

/** `conductor grad`: writes the policy gradient of a batch with respect to an adapter to a file. Needs no tokenizer and changes no weights. */
export const gradCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (positionals.length > 0) throw new UsageError(`"grad" takes options only (left over: ${positionals.join(' ')}).`);
  const choice = modelChoice(values);
  if (choice.adapter === undefined) throw new UsageError('The adapter is missing: --adapter DIR.');
  if (!values.input) throw new UsageError('The file with the batch is missing: --input FILE.json, or - for standard input.');
  if (!values.out) throw new UsageError('The output file for the gradients is missing: --out FILE.safetensors.');
  const out = path.resolve(context.currentFolder, values.out);
  const type = lossType(values.loss);
  const temperature = temperatureOf(values.temperature);
  const longest = completionLength(values['max-completion-length'], type);

  const { oldLogprobs, advantages, ...batch } = await readTrainingBatch(values.input, context);
  const size = {
    completions: oldLogprobs.filter(({ length }) => length > 0).length,
    tokens: oldLogprobs.reduce((sum, { length }) => sum + length, 0),
    maxCompletionLength: longest ?? 0,
  };
  if (size.tokens === 0) throw new Error('No sequence has a token after its prompt, so there is no gradient.');
  const tokens = oldLogprobs.map((old, row) => lossWeights({ tokens: old.length, oldLogprobs: old, advantage: advantages[row] as number }, { type }, size));
  const found = await runModel({ ...choice, trainable: 'adapter' }, context, async ({ model, adapter }) => {
    await model.startTraining({ adapter: adapter as string, optimizer: ADAMW_DEFAULTS });
    const { loss } = await model.forwardBackward({ ...batch, tokens, temperature, signal: context.interrupted });
    const { gradientNorm } = await model.writeGradients(out);
    return { loss, grad_norm: gradientNorm };
  });
  context.terminal.result(jsonText(found));
  return EXIT.ok;
};

function lossType(text: string | undefined): LossType {
  const found = LOSS_TYPES.find((type) => type === text);
  if (!found) throw new UsageError(`--loss takes ${LOSS_TYPES.join(', ')}${text === undefined ? '' : `, not "${text}"`}.`);
  return found;
}

function temperatureOf(text = '1'): number {
  const temperature = Number(text);
  if (!(temperature > 0) || temperature === Number.POSITIVE_INFINITY) throw new UsageError(`--temperature takes a number above 0, not "${text}".`);
  return temperature;
}

function completionLength(text: string | undefined, type: LossType): number | undefined {
  if (text === undefined && type === 'dr_grpo') throw new UsageError('dr_grpo needs the maximum completion length: --max-completion-length N.');
  if (text === undefined) return undefined;
  const length = Number(text);
  if (!Number.isInteger(length) || length < 1) throw new UsageError(`--max-completion-length takes a whole number from 1, not "${text}".`);
  return length;
}
