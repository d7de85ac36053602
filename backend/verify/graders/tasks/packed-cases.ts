import { inflateSync } from 'node:zlib';
import * as z from 'zod';
import type { TestCase } from '../code/cases-grader.ts';

/** Packed cases cannot be read. The message says why. */
export class UnpackError extends Error {
  override readonly name = 'UnpackError';
}

/** The largest published cases unpack to some tens of megabytes. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

const casesSchema = z.array(
  z.object({ input: z.string(), output: z.string(), testtype: z.enum(['stdin', 'functional']).optional() }),
);

export type PublishedCase = z.infer<typeof casesSchema>[number];

/**
 * Reads LiveCodeBench's test cases: JSON, or for private cases base64 of zlib of a pickled string of JSON
 * (`lcb_runner/benchmarks/code_generation.py`). Throws `UnpackError`.
 */
export function unpackCases(text: string): readonly (TestCase & PublishedCase)[] {
  const json = text.trimStart().startsWith('[') ? text : readPickledString(inflated(text));
  try {
    return casesSchema.parse(JSON.parse(json));
  } catch {
    throw new UnpackError('they are no list of {"input", "output"}.');
  }
}

function inflated(base64: string): Buffer {
  try {
    return inflateSync(Buffer.from(base64, 'base64'), { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch {
    throw new UnpackError('they are neither JSON nor base64 of zlib, or too large.');
  }
}

/**
 * Returns the string in a pickle of one string. A pickle is a program that can call anything, so it is not run. Only the instructions of a
 * string are read (protocols 2 to 5, as in Python's `pickletools`); others are rejected. Throws `UnpackError`.
 */
export function readPickledString(pickle: Buffer): string {
  let at = 0;
  let found: string | undefined;
  const take = (bytes: number): Buffer => {
    if (!Number.isSafeInteger(bytes) || at + bytes > pickle.length) throw new UnpackError('their pickle is cut off.');
    at += bytes;
    return pickle.subarray(at - bytes, at);
  };
  const takeString = (bytes: number): void => {
    if (found !== undefined) throw new UnpackError('their pickle holds more than one string.');
    found = take(bytes).toString('utf8');
  };
  for (;;) {
    const instruction = take(1)[0] ?? 0;
    switch (instruction) {
      case 0x80: // PROTO
      case 0x71: // BINPUT
        take(1);
        break;
      case 0x72: // LONG_BINPUT
        take(4);
        break;
      case 0x95: // FRAME
        take(8);
        break;
      case 0x94: // MEMOIZE
        break;
      case 0x8c: // SHORT_BINUNICODE
        takeString(take(1)[0] ?? 0);
        break;
      case 0x58: // BINUNICODE
        takeString(take(4).readUInt32LE());
        break;
      case 0x8d: // BINUNICODE8
        takeString(Number(take(8).readBigUInt64LE()));
        break;
      case 0x2e: // STOP
        if (found === undefined || at !== pickle.length)
          throw new UnpackError('their pickle does not contain exactly one string.');
        return found;
      default:
        throw new UnpackError(`their pickle holds something else than a string (instruction 0x${instruction.toString(16)}).`);
    }
  }
}
