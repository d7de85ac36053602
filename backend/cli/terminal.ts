import { styleText } from 'node:util';

/** Where the command line writes. Results go to standard output, everything said on the way to standard error. */
export interface Terminal {
  result(text: string): void;
  say(text: string): void;
  readonly style: Style;
  /** Asks on the terminal; undefined where nobody sits at one. */
  ask?: ((question: string) => Promise<boolean>) | undefined;
}

type Format = Parameters<typeof styleText>[0];
export type Style = (format: Format, text: string) => string;

/** Colours where the stream shows them and the user did not ask for none (https://no-color.org). */
export function styleFor(stream: NodeJS.WriteStream): Style {
  return (format, text) => styleText(format, text, { stream, validateStream: true });
}

/** Removes what could command the terminal: texts of models and of files are shown, never obeyed. Tabs and newlines stay. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
}

/** One line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  const line = printable(text).replace(/\s+/g, ' ').trim();
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}
