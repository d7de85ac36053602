import { createReadStream } from 'node:fs';
import path from 'node:path';
import { addAbortSignal } from 'node:stream';
import * as z from 'zod';
import type { CommandContext } from './command.ts';

/** Sequences of token ids, each with the length of its prompt. */
export interface TokenSequences {
  readonly sequences: readonly (readonly number[])[];
  /** From 1 to the length of the sequence. */
  readonly promptLengths: readonly number[];
}

/** About 40 million ids. V8's maximum string length is not much larger. */
const MOST_BYTES = 256 * 2 ** 20;

const FORM = '{"sequences": [[id, …], …], "prompt_lengths": [n, …]}';

const sequencesSchema = z.object({
  sequences: z.array(z.array(z.int().min(0))),
  prompt_lengths: z.array(z.int().min(1)),
});
const fileSchema = sequencesSchema.superRefine(checkLengths);

function checkLengths({ sequences, prompt_lengths: lengths }: z.output<typeof sequencesSchema>, { addIssue }: z.RefinementCtx): void {
  if (sequences.length !== lengths.length) {
    addIssue({ code: 'custom', message: `there are ${sequences.length} sequences and ${lengths.length} prompt lengths` });
  }
  const longer = lengths.findIndex((length, row) => length > (sequences[row]?.length ?? Infinity));
  if (longer >= 0) {
    const message = `is ${lengths[longer]}, and the sequence has ${sequences[longer]?.length} tokens`;
    addIssue({ code: 'custom', path: ['prompt_lengths', longer], message });
  }
}

/** A batch for a policy gradient: per sequence an advantage and, for the tokens after the prompt, the old log-probabilities. */
export interface TrainingBatch extends TokenSequences {
  readonly oldLogprobs: readonly (readonly number[])[];
  readonly advantages: readonly number[];
  readonly clip: { readonly low: number; readonly high: number };
}

const BATCH_FORM =
  '{"sequences": [[id, …], …], "prompt_lengths": [n, …], "old_logprobs": [[x, …], …], "advantages": [x, …], "clip": [low, high]}';

const batchSchema = sequencesSchema.extend({
  old_logprobs: z.array(z.array(z.number())),
  advantages: z.array(z.number()),
  clip: z.tuple([z.number().min(0), z.number().min(0)]),
}).superRefine((batch, context) => {
  checkLengths(batch, context);
  const { sequences, prompt_lengths: lengths, old_logprobs: old, advantages } = batch;
  if (old.length !== sequences.length || advantages.length !== sequences.length) {
    const message = `there are ${sequences.length} sequences, ${old.length} lists of old log-probabilities and ${advantages.length} advantages`;
    context.addIssue({ code: 'custom', message });
  }
  const other = sequences.findIndex((sequence, row) => old[row] && old[row].length !== sequence.length - (lengths[row] ?? 0));
  if (other >= 0) {
    const message = `has ${old[other]?.length} numbers, and ${sequences[other]!.length - lengths[other]!} tokens come after the prompt`;
    context.addIssue({ code: 'custom', path: ['old_logprobs', other], message });
  }
});

type InputContext = Pick<CommandContext, 'currentFolder' | 'standardInput' | 'interrupted'>;

/** Reads a file of token ids; "-" is standard input. @throws an error that says what is wrong with the file */
export async function readTokenFile(name: string, context: InputContext): Promise<TokenSequences> {
  const { sequences, prompt_lengths: promptLengths } = await readInput(name, fileSchema, FORM, context);
  return { sequences, promptLengths };
}

/** Reads a file with a batch for a policy gradient. */
export async function readTrainingBatch(name: string, context: InputContext): Promise<TrainingBatch> {
  const batch = await readInput(name, batchSchema, BATCH_FORM, context);
  const { sequences, prompt_lengths: promptLengths, old_logprobs: oldLogprobs, advantages, clip: [low, high] } = batch;
  return { sequences, promptLengths, oldLogprobs, advantages, clip: { low, high } };
}

async function readInput<Content>(
  name: string, schema: z.ZodType<Content>, form: string, { currentFolder, standardInput, interrupted }: InputContext,
): Promise<Content> {
  const place = name === '-' ? 'Standard input' : path.resolve(currentFolder, name);
  const input = addAbortSignal(interrupted, name === '-' ? standardInput() : createReadStream(place));
  const parsed = schema.safeParse(parse(await readAll(input, place, interrupted), place, form));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = (issue?.path ?? []).map((part) => (typeof part === 'number' ? `[${part}]` : String(part))).join('');
  throw new Error(`${place} is not of the form ${form}: ${where === '' ? '' : `${where}: `}${issue?.message ?? 'it is something else'}.`);
}

async function readAll(input: AsyncIterable<Uint8Array>, place: string, interrupted: AbortSignal): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of input) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    interrupted.throwIfAborted();
    throw new Error(`${place} could not be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`, { cause: error });
  }
  if (bytes > MOST_BYTES) throw new Error(`${place} has more than ${MOST_BYTES / 2 ** 20} MB: give the sequences in several files.`);
  return Buffer.concat(chunks);
}

function parse(bytes: Uint8Array, place: string, form: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new Error(`${place} is not JSON; it must be of the form ${form}.`, { cause });
  }
}
