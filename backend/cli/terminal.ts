import { styleText } from 'node:util';
import { clip } from '../common/clip.ts';

/** The output of the command line. Results go to standard output, all other messages to standard error. */
export interface Terminal {
  result(text: string): void;
  /** Writes a part of a result, as it arrives. */
  write(text: string): void;
  say(text: string): void;
  /** Replaces the status line; an empty text clears it. Absent if standard error is no terminal. */
  status?: ((text: string) => void) | undefined;
  /** Style for messages on standard error. */
  readonly style: Style;
  /** Style for results, which may go to a file while messages go to a terminal. */
  readonly resultStyle: Style;
  /** Asks a yes-or-no question until the signal aborts. Undefined without a terminal. */
  ask?: ((question: string, signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Asks for a line of text until the signal aborts. Undefined without a terminal. */
  readLine?: ((question: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** Has the person change a text in their editor. Undefined without a terminal, or where no editor is named. @throws Error with a sentence */
  edit?: ((text: string, options: { readonly name: string; readonly signal: AbortSignal }) => Promise<string>) | undefined;
}

type Format = Parameters<typeof styleText>[0];
export type Style = (format: Format, text: string) => string;

/** Uses colours if the stream supports them and NO_COLOR is not set (https://no-color.org). */
export function styleFor(stream: NodeJS.WriteStream): Style {
  return (format, text) => styleText(format, text, { stream, validateStream: true });
}

/** Control characters, and characters that change the direction of text. Tabs and newlines are not included. */
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Removes terminal control characters. Texts from models, servers and files are untrusted. */
export function printable(text: string): string {
  return text.replace(COMMANDS, '');
}

/** A deep copy of the value with all strings made printable. */
export function allPrintable<T>(value: T): T {
  if (typeof value === 'string') return printable(value) as T;
  if (Array.isArray(value)) return value.map(allPrintable) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, allPrintable<unknown>(item)])) as T;
}

/** Lossless JSON that is safe for terminals: also escapes the control characters that JSON.stringify leaves unchanged. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(COMMANDS, (character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One line of at most `width` characters. */
export function oneLine(text: string, width: number): string {
  return clip(printable(text).replace(/\s+/g, ' ').trim(), width);
}
