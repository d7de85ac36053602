import * as z from 'zod';

/** Where a price comes from: the worker's settings, the user's file, the list of this build, or a catalogue. Models of this machine are free. */
export const priceOriginSchema = z.object({
  list: z.enum(['worker', 'file', 'conductor', 'catalogue', 'free']),
  /** The day of the list. */
  asOf: z.iso.date().optional(),
  /** Of the catalogue. */
  name: z.string().optional(),
});
export type PriceOrigin = z.infer<typeof priceOriginSchema>;
