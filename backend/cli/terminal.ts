import { styleText } from 'node:util';
import { clip } from '../common/clip.ts';

/** Where the command line writes. Results go to standard output, everything said on the way to standard error. */
export interface Terminal {
  result(text: string): void;
  /** A piece of a result, as it comes. */
  write(text: string): void;
  say(text: string): void;
  /** What is true for the moment, in place of what was before; nothing, where the text is empty. Absent where nobody watches. */
  status?: ((text: string) => void) | undefined;
  /** For what is said. */
  readonly style: Style;
  /** For results, which may go to a file while the rest goes to a terminal. */
  readonly resultStyle: Style;
  /** Asks on the terminal until the signal aborts; undefined where nobody sits at one. */
  ask?: ((question: string, signal: AbortSignal) => Promise<boolean>) | undefined;
}

type Format = Parameters<typeof styleText>[0];
export type Style = (format: Format, text: string) => string;

/** Colours where the stream shows them and the user did not ask for none (https://no-color.org). */
export function styleFor(stream: NodeJS.WriteStream): Style {
  return (format, text) => styleText(format, text, { stream, validateStream: true });
}

/** What could command the terminal, or show text in another order than it has. Tabs and newlines are none of it. */
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Without what could command the terminal: texts of models, of servers and of files are shown, never obeyed. */
export function printable(text: string): string {
  return text.replace(COMMANDS, '');
}

/** A copy of the value in which every text is printable. */
export function allPrintable<T>(value: T): T {
  if (typeof value === 'string') return printable(value) as T;
  if (Array.isArray(value)) return value.map(allPrintable) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, allPrintable<unknown>(item)])) as T;
}

/** JSON that loses nothing and yet commands no terminal: what JSON.stringify leaves as it is stands escaped. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(COMMANDS, (character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  return clip(printable(text).replace(/\s+/g, ' ').trim(), width);
}
