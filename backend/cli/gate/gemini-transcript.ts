import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import * as z from 'zod';

/*
 * What Gemini CLI records of a session: a JSON object a line, of which each message is one. A person may say the same twice, and the hook is told the words
 * alone; the record gives each message an id.
 */

const messageSchema = z.object({ id: z.string(), type: z.literal('user'), content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]) });
/** A longer record is not read to its end. */
const MAX_BYTES = 64 * 2 ** 20;

/** The id of the newest message with these words; undefined where none is found, or no record. */
export async function messageId(transcript: string, words: string): Promise<string | undefined> {
  let found: string | undefined;
  try {
    for await (const line of createInterface({ input: createReadStream(transcript, { encoding: 'utf8', end: MAX_BYTES }), crlfDelay: Infinity })) {
      // What tools returned takes most of a record.
      if (line.includes('"user"')) found = idIn(line, words) ?? found;
    }
  } catch {
    // It is gone, or may not be read.
  }
  return found;
}

function idIn(line: string, words: string): string | undefined {
  try {
    const { data } = messageSchema.safeParse(JSON.parse(line));
    const said = typeof data?.content === 'string' ? data.content : data?.content.map(({ text = '' }) => text).join('');
    return said === words ? data?.id : undefined;
  } catch {
    // The line was cut off.
    return undefined;
  }
}
