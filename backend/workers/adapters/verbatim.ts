import type { VerbatimTurn } from '../../protocol/tool-calls.ts';
import type { Message } from '../model.ts';

/** Longer turns are not kept. 4 Mi characters of reasoning are about a million tokens. */
export const MAX_VERBATIM_CHARACTERS = 4 * 1_048_576;

/** A turn as `by` wants it back, unless it is too long to keep. */
export function verbatimTurn(by: string, items: VerbatimTurn['items']): VerbatimTurn | undefined {
  return JSON.stringify(items).length > MAX_VERBATIM_CHARACTERS ? undefined : { by, items };
}

/** The items of a turn if the same model wrote it. The caller wrote them, so they have its format's types. */
export function verbatimItems<Item>({ verbatim }: Message, by: string | undefined): readonly Item[] | undefined {
  return verbatim !== undefined && verbatim.by === by ? (verbatim.items as readonly Item[]) : undefined;
}
