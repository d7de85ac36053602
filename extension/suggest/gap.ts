/** A place in a document where something may belong, as the person sees it at one moment. */
export interface Gap {
  /** Which document; any text that tells it from others. */
  readonly document: string;
  readonly before: string;
  readonly after: string;
  /** Whether more than the line's rest is wanted. */
  readonly multiline: boolean;
}

/** When a suggestion may have several lines. */
export type MultilineSetting = 'auto' | 'always' | 'never';

/** What editors close by themselves behind the cursor, and what ends a statement. */
const CLOSERS = /^[\s)\]}>'"`;,:]*$/;
const NO_CLOSER = /[^\s)\]}>'"`;,:]|$/;
/** Ends of a line after which its block follows. */
const OPENS_BLOCK = /(?:[{([:]|=>|->|\b(?:do|then|else|begin))\s*$/;
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#|--|"""|<!--)/;

/** The line that the cursor is in, up to it. */
export function lineBefore({ before }: Pick<Gap, 'before'>): string {
  return before.slice(before.lastIndexOf('\n') + 1);
}

/** The rest of that line. */
export function lineAfter({ after }: Pick<Gap, 'after'>): string {
  const end = after.search(/\r?\n/);
  return end === -1 ? after : after.slice(0, end);
}

/** So much of what follows tells one place from another; more would change with the part of the document that is told. */
const BEYOND_CHARACTERS = 250;

/**
 * What follows the cursor beyond spaces and brackets: it stays the same while somebody types, although the editor closes brackets
 * and moves them to lines of their own.
 */
export function beyond({ after }: Pick<Gap, 'after'>): string {
  return after.slice(after.search(NO_CLOSER)).slice(0, BEYOND_CHARACTERS);
}

/** Whether only what closes something stands behind the cursor. */
export function endsItsLine(gap: Pick<Gap, 'after'>): boolean {
  return CLOSERS.test(lineAfter(gap));
}

/**
 * Whether to ask without being told to: at the end of a line, and not in the middle of a word or of other code, where people mend
 * rather than write.
 */
export function isWorthAsking(gap: Pick<Gap, 'before' | 'after'>): boolean {
  return gap.before.trim() !== '' && endsItsLine(gap);
}

/**
 * Whether several lines are wanted. `auto`: where a line or a block begins, that is on an empty line, after what opens a block, and
 * below a comment; a line that is being written is only written to its end.
 */
export function wantsLines(setting: MultilineSetting, gap: Pick<Gap, 'before' | 'after'>): boolean {
  if (setting !== 'auto') return setting === 'always' && endsItsLine(gap);
  if (!endsItsLine(gap)) return false;
  const line = lineBefore(gap);
  return line.trim() === '' || (OPENS_BLOCK.test(line) && !COMMENT.test(line));
}
