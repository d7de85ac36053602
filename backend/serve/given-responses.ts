import * as z from 'zod';
import { invalid } from './endpoint-error.ts';
import type { OwnItems } from './given-items.ts';

/** A response from which a client may go on by its id: what was sent for it, and what it said. */
const givenResponseSchema = z.object({ id: z.string(), previous: z.string().optional(), items: z.array(z.unknown()) });
export type GivenResponse = z.infer<typeof givenResponseSchema>;

/** As many items as a request may hold. */
const MAX_ITEMS = 10_000;

/** The items of a response and of those before it, the oldest first. @throws EndpointError if one of them is not known, or no more */
export function itemsUntil(id: string, responses: OwnItems): unknown[] {
  const parts: unknown[][] = [];
  for (let named: string | undefined = id, count = 0; named !== undefined;) {
    const { data } = givenResponseSchema.safeParse(responses.find(named));
    count += data?.items.length ?? 0;
    if (!data || count > MAX_ITEMS) throw invalid(`previous_response_id: the response "${named}" is not known here, or no more: send the whole conversation as "input".`, 400, 'previous_response_not_found');
    parts.unshift(data.items);
    named = data.previous;
  }
  return parts.flat();
}
