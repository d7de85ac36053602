import type { FileEdit } from '../../backend/protocol/methods.ts';
import { codeBlocksOf } from '../common/code-blocks.ts';

export interface CursorAnswer {
  readonly edits: readonly FileEdit[];
  /** The answer of the run, in Markdown. */
  readonly answer: string;
  /** Path of the document relative to the workspace, with forward slashes. */
  readonly path: string;
  /** The document at the time of the question, and the cursor in it, in UTF-16 units. */
  readonly text: string;
  readonly offset: number;
}

/**
 * The text that an answer inserts at the cursor: from its edit, or, if there is none, from its only code block.
 * @returns undefined if the answer does anything else
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
