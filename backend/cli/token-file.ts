import { createReadStream } from 'node:fs';
import path from 'node:path';
import { addAbortSignal } from 'node:stream';
import { z } from 'zod';
import type { CommandContext } from './command.ts';

/** Token ids of sequences, and how many of each are its prompt. */
export interface TokenSequences {
  readonly sequences: readonly (readonly number[])[];
  /** From 1 to the length of the sequence. */
  readonly promptLengths: readonly number[];
}

/** Some forty million ids; a longer text is no string in V8 soon after. */
const MOST_BYTES = 256 * 2 ** 20;

const FORM = '{"sequences": [[id, …], …], "prompt_lengths": [n, …]}';

const fileSchema = z.object({
  sequences: z.array(z.array(z.int().min(0))),
  prompt_lengths: z.array(z.int().min(1)),
}).superRefine(({ sequences, prompt_lengths: lengths }, { addIssue }) => {
  if (sequences.length !== lengths.length) {
    addIssue({ code: 'custom', message: `there are ${sequences.length} sequences and ${lengths.length} prompt lengths` });
  }
  const longer = lengths.findIndex((length, row) => length > (sequences[row]?.length ?? Infinity));
  if (longer >= 0) {
    const message = `is ${lengths[longer]}, and the sequence has ${sequences[longer]?.length} tokens`;
    addIssue({ code: 'custom', path: ['prompt_lengths', longer], message });
  }
});

/** Reads a file of token ids, or standard input where it is named "-". @throws an error that says what is wrong with it */
export async function readTokenFile(
  name: string, { currentFolder, standardInput, interrupted }: Pick<CommandContext, 'currentFolder' | 'standardInput' | 'interrupted'>,
): Promise<TokenSequences> {
  const place = name === '-' ? 'Standard input' : path.resolve(currentFolder, name);
  const input = addAbortSignal(interrupted, name === '-' ? standardInput() : createReadStream(place));
  const parsed = fileSchema.safeParse(parse(await readAll(input, place, interrupted), place));
  if (parsed.success) return { sequences: parsed.data.sequences, promptLengths: parsed.data.prompt_lengths };
  const [issue] = parsed.error.issues;
  const where = (issue?.path ?? []).map((part) => (typeof part === 'number' ? `[${part}]` : String(part))).join('');
  throw new Error(`${place} is not of the form ${FORM}: ${where === '' ? '' : `${where}: `}${issue?.message ?? 'it is something else'}.`);
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

function parse(bytes: Uint8Array, place: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new Error(`${place} is not JSON; it must be of the form ${FORM}.`, { cause });
  }
}
