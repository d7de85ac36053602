/** One argument of a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A word of a command line that people read: quoted only where it must be. */
export const shellWord = (text: string): string => (/^[\w./-]+$/.test(text) ? text : shellQuote(text));
