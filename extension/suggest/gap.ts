/** A place in a document where text can be inserted, at one moment. */
export interface Gap {
  /** Any unique identifier of the document. */
  readonly document: string;
  readonly before: string;
  readonly after: string;
  /** Whether more than the rest of the line is wanted. */
  readonly multiline: boolean;
}

/** When suggestions may have several lines. */
export type MultilineSetting = 'auto' | 'always' | 'never';

/** Characters that editors insert automatically after the cursor, and statement terminators. */
const CLOSERS = /^[\s)\]}>'"`;,:]*$/;
const NO_CLOSER = /[^\s)\]}>'"`;,:]|$/;
/** Ends of lines that open a block. */
const OPENS_BLOCK = /(?:[{([:]|=>|->|\b(?:do|then|else|begin))\s*$/;
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#|--|"""|<!--)/;

/** The cursor's line up to the cursor. */
export function lineBefore({ before }: Pick<Gap, 'before'>): string {
  return before.slice(before.lastIndexOf('\n') + 1);
}

/** The cursor's line after the cursor. */
export function lineAfter({ after }: Pick<Gap, 'after'>): string {
  const end = after.search(/\r?\n/);
  return end === -1 ? after : after.slice(0, end);
}

/** Enough following text to identify a place. More would change with the section of the document that is sent. */
const BEYOND_CHARACTERS = 250;

/**
 * The text after the cursor without spaces and brackets. It stays the same while the user types, even if the editor closes brackets and
 * moves them to other lines.
 */
export function beyond({ after }: Pick<Gap, 'after'>): string {
  return after.slice(after.search(NO_CLOSER)).slice(0, BEYOND_CHARACTERS);
}

/** Whether only closing characters follow on the line. */
export function endsItsLine(gap: Pick<Gap, 'after'>): boolean {
  return CLOSERS.test(lineAfter(gap));
}

/** Whether to suggest automatically: only at the end of a line. Within a word or other code, users usually edit rather than write. */
export function isWorthAsking(gap: Pick<Gap, 'before' | 'after'>): boolean {
  return gap.before.trim() !== '' && endsItsLine(gap);
}

/**
 * Whether several lines are wanted. With `auto`, only where a line or a block begins: on an empty line, after a line that opens a block,
 * and below a comment. Other lines are only completed.
 */
export function wantsLines(setting: MultilineSetting, gap: Pick<Gap, 'before' | 'after'>): boolean {
  if (setting !== 'auto') return setting === 'always' && endsItsLine(gap);
  if (!endsItsLine(gap)) return false;
  const line = lineBefore(gap);
  return line.trim() === '' || (OPENS_BLOCK.test(line) && !COMMENT.test(line));
}
