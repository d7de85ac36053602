import type { FileEdit } from '../../backend/protocol/methods.ts';
import { codeBlocksOf } from '../common/code-blocks.ts';

export interface CursorAnswer {
  readonly edits: readonly FileEdit[];
  /** Of the run, in Markdown. */
  readonly answer: string;
  /** Of the document, relative to the workspace, with forward slashes. */
  readonly path: string;
  /** The document as the question was asked, and where in it the cursor was, in UTF-16 units. */
  readonly text: string;
  readonly offset: number;
}

/**
 * What an answer puts at the cursor: the text that its edit inserts there, or, where it edits nothing, its one block of code.
 * @returns undefined where it does anything else
 */
export function textAtCursor({ edits, answer, path, text, offset }: CursorAnswer): string | undefined {
  const [edit, ...others] = edits;
  if (!edit) return onlyBlock(answer);
  if (others.length > 0 || edit.path !== path || edit.after === null) return undefined;
  const before = text.slice(0, offset);
  const behind = text.slice(offset);
  const isInsertion = edit.after.length > text.length && edit.after.startsWith(before) && edit.after.endsWith(behind);
  return isInsertion ? edit.after.slice(offset, edit.after.length - behind.length) : undefined;
}

function onlyBlock(answer: string): string | undefined {
  const [block, ...others] = codeBlocksOf(answer);
  if (!block || others.length > 0) return undefined;
  return block.code.replace(/\n$/, '') || undefined;
}
