import { positive, readArguments, whole } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { MODEL_OPTIONS, type ModelChoice, modelChoice } from './model-options.ts';
import { ProgressPrinter } from './progress-printer.ts';
import { runModel } from './run-model.ts';
import { jsonText, printable } from './terminal.ts';
import { readTokenFile, type TokenSequences } from './token-file.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  ...MODEL_OPTIONS,
  prompt: { type: 'string', short: 'p' },
  input: { type: 'string', short: 'i' },
  'max-tokens': { type: 'string' },
  temperature: { type: 'string' },
  'top-p': { type: 'string' },
  'top-k': { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

interface Sampling {
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly seed: number;
}

const MAX_TOKENS = 256;

/** The default temperature: the output is deterministic. */
const GREEDY = 0;

/** Limit of tokens in one batch, prompts and answers together: the attention cache must fit in memory next to the model. */
const BATCH_TOKENS = 16_384;

/** `conductor generate`: answers a prompt, or continues sequences of token ids. The latter needs no tokenizer. */
export const generateCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (positionals.length > 0) throw new UsageError(`The prompt is an option: --prompt "…" (left over: ${positionals.join(' ')}).`);
  const choice = modelChoice(values);
  const sampling = samplingFrom(values);
  const { prompt, input, json = false } = values;
  if ((prompt === undefined) === (input === undefined)) {
    throw new UsageError('Give either --prompt TEXT, or --input FILE.json with token ids (- for standard input).');
  }
  if (input === '' || prompt?.trim() === '') throw new UsageError(input === '' ? '--input takes a file.' : 'The prompt is empty.');
  if (input !== undefined) await continueTokens(choice, await readTokenFile(input, context), sampling, context);
  else await answer(choice, prompt as string, { ...sampling, json }, context);
  return EXIT.ok;
};

/** Prints the continuations of the prompts. Row i uses the seed plus i, so that a row does not depend on the number of rows. */
async function continueTokens(
  choice: ModelChoice, { sequences, promptLengths }: TokenSequences, { seed, ...sampling }: Sampling, context: CommandContext,
): Promise<void> {
  const { terminal, interrupted } = context;
  const prompts = sequences.map((sequence, row) => sequence.slice(0, promptLengths[row]));
  const tokens = await runModel(choice, context, async ({ model, adapter }) => {
    const progress = new ProgressPrinter(terminal);
    const rows: (readonly number[])[] = [];
    for (const some of batches(prompts, sampling.maxTokens)) {
      if (rows.length > 0) progress.tell({ label: 'Continued', fraction: rows.length / prompts.length });
      const seeds = some.map((_, row) => seed + rows.length + row);
      const generated = await model.generate({ ...sampling, prompts: some, samples: 1, seeds, adapter, signal: interrupted });
      rows.push(...generated.map((row) => row.tokens));
    }
    progress.end();
    return rows;
  });
  terminal.result(jsonText({ tokens }));
}

/** Splits the prompts, in order, into batches within BATCH_TOKENS. A batch has at least one prompt. */
function batches(prompts: readonly (readonly number[])[], maxTokens: number): (readonly number[])[][] {
  const parts: (readonly number[])[][] = [];
  let part: (readonly number[])[] = [];
  let longest = 0;
  for (const prompt of prompts) {
    longest = Math.max(longest, prompt.length);
    if (part.length > 0 && (part.length + 1) * (longest + maxTokens) > BATCH_TOKENS) {
      parts.push(part);
      part = [];
      longest = prompt.length;
    }
    part.push(prompt);
  }
  return part.length > 0 ? [...parts, part] : parts;
}

/** Answers a prompt: streams the text, or prints one JSON object. */
async function answer(
  choice: ModelChoice, prompt: string, { json, seed, ...sampling }: Sampling & { readonly json: boolean }, context: CommandContext,
): Promise<void> {
  const { terminal, interrupted } = context;
  const [written] = await runModel(choice, context, ({ model, adapter }) => model.write({
    ...sampling,
    messages: [{ role: 'user', content: prompt }],
    samples: 1,
    seeds: [seed],
    adapter,
    signal: interrupted,
    onText: json ? undefined : (_sample, text) => terminal.write(printable(text)),
  }));
  if (!written) throw new Error('The model gave no answer.');
  const { text, tokenIds, finishReason } = written;
  if (json) return terminal.result(jsonText({ text, tokens: tokenIds, finish_reason: finishReason }));
  terminal.result('');
  if (finishReason === 'length') terminal.say(`Stopped after ${tokenIds.length} tokens; --max-tokens allows more.`);
}

/** @throws UsageError */
function samplingFrom(values: Values): Sampling {
  const optional = (text: string | undefined, read: (text: string) => number, otherwise: number): number =>
    (text === undefined ? otherwise : read(text));
  return {
    maxTokens: optional(values['max-tokens'], (text) => whole(text, '--max-tokens', { from: 1, to: 1_000_000 }), MAX_TOKENS),
    temperature: optional(values.temperature, temperatureFrom, GREEDY),
    topP: optional(values['top-p'], shareFrom, 1),
    topK: optional(values['top-k'], (text) => whole(text, '--top-k', { from: 0, to: 10_000_000 }), 0),
    seed: optional(values.seed, (text) => whole(text, '--seed', { from: 0, to: 2 ** 48 }), 0),
  };
}

/** @throws UsageError */
function temperatureFrom(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new UsageError(`--temperature takes 0 for greedy decoding, or a number above 0, not "${text}".`);
}

/** @throws UsageError */
function shareFrom(text: string): number {
  const value = positive(text, '--top-p');
  if (value > 1) throw new UsageError(`--top-p takes a number above 0 and at most 1, not "${text}".`);
  return value;
}
