import * as z from 'zod';
import { invalid, type EndpointError } from './endpoint-error.ts';
import type { GivenItem, OwnItems } from './given-items.ts';

/** A response from which a client may go on by its id: what was sent for it, and the response as it was given, which holds what it said. */
const givenResponseSchema = z.object({
  id: z.string(), previous: z.string().optional(), sent: z.array(z.unknown()), response: z.looseObject({ output: z.array(z.looseObject({ id: z.string() })) }),
});
export type GivenResponse = z.infer<typeof givenResponseSchema>;

/** What a client was given before, by its ids. */
export interface Given {
  readonly items: OwnItems;
  readonly responses: OwnItems;
}

/** Keeps a response and the items of what it said. */
export function keepResponse(kept: GivenResponse, { items, responses }: Given): void {
  for (const item of kept.response.output) items.keep(item satisfies GivenItem);
  responses.keep(kept);
}

/** The response as it was given. @throws EndpointError if it is not known, or no more */
export function givenResponse(id: string, { responses }: Given): object {
  const { data } = givenResponseSchema.safeParse(responses.find(id));
  if (!data) throw unknownResponse(id);
  return data.response;
}

/** Forgets a response, what was sent for it and what it said. @throws EndpointError if it is not known, or no more */
export async function forgetResponse(id: string, { items, responses }: Given): Promise<object> {
  const { data } = givenResponseSchema.safeParse(responses.find(id));
  if (!data) throw unknownResponse(id);
  await Promise.all([responses.remove(id), ...data.response.output.map((item) => items.remove(item.id))]);
  return { id, object: 'response', deleted: true };
}

const unknownResponse = (id: string): EndpointError => invalid(`The response "${id}" is not known here, or no more.`, 404, 'response_not_found');

/** As many items as a request may hold. */
const MAX_ITEMS = 10_000;

/** The items of a response and of those before it, the oldest first. @throws EndpointError if one of them is not known, or no more */
export function itemsUntil(id: string, responses: OwnItems): unknown[] {
  const parts: unknown[][] = [];
  for (let named: string | undefined = id, count = 0; named !== undefined;) {
    const { data } = givenResponseSchema.safeParse(responses.find(named));
    const items = data ? [...data.sent, ...data.response.output] : [];
    count += items.length;
    if (!data || count > MAX_ITEMS) throw invalid(`previous_response_id: the response "${named}" is not known here, or no more: send the whole conversation as "input".`, 400, 'previous_response_not_found');
    parts.unshift(items);
    named = data.previous;
  }
  return parts.flat();
}
