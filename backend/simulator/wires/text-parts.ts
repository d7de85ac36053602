import * as z from 'zod';

const part = z.object({ type: z.string(), text: z.string() });

/** Text, or a list of parts that are text; anything else, such as a picture, is refused. */
export const textSchema = z.union([z.string(), z.array(part).transform((parts) => parts.map(({ text }) => text).join(''))]);
