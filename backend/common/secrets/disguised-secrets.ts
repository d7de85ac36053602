import { withoutControls } from '../without-controls.ts';

/*
 * Forms in which a program may print a secret, so that no line of its output looks like one: encoded, coloured, put together from parts,
 * or broken over lines.
 */

/** A secret is rarely shorter, and a shorter text often decodes to something by chance. */
const SHORTEST = 20;
const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,8192}={0,2}/g;
const HEX = /(?<![A-Za-z0-9])(?:[0-9a-fA-F]{2}){16,4096}(?![A-Za-z0-9])/g;
/** `"a" + "b"`, `"a" "b"`, and a line break that is written as an escape. */
const SEAM = /(?:\\r)?\\n\s{0,8}|["'`]\s{0,8}[+.]?\s{0,8}["'`]/g;
const PRINTABLE = /^[\t\n\r\x20-\x7e]+$/;

/** The line as it was before a program encoded it or put it together: each reading that differs from the line. */
export function* disguisesOf(line: string): Generator<string> {
  if (line.includes('\x1b')) yield withoutControls(line);
  const joined = line.replace(SEAM, '');
  if (joined !== line) yield joined;
  if (line.includes('%')) yield line.replace(/%([2-7][0-9a-fA-F])/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  if (line.length < SHORTEST) return;
  for (const [encoded] of line.matchAll(BASE64)) if (/[A-Z]/.test(encoded)) yield* printable(Buffer.from(encoded, 'base64'));
  for (const [encoded] of line.matchAll(HEX)) yield* printable(Buffer.from(encoded, 'hex'));
}

function* printable(bytes: Buffer): Generator<string> {
  const text = bytes.toString('latin1');
  if (PRINTABLE.test(text)) yield* text.split('\n');
}

/** Of a line that a secret is broken over. */
const MAX_PART = 512;
const MIN_PART = 4;
const MAX_LINES = 40;
const TOKEN = /[A-Za-z0-9_+/=.~:@-]/;
/** What may stand between the end of a part and the end of its line. */
const CLOSES = /[\s"'`+\\]/;
/** What may stand before a part: signs of a diff, a quotation or pytest's. */
const OPENS = /^\s{0,16}(?:(?:E|[>|#+-])\s{1,8})?["'`]?(?=[A-Za-z0-9_+/=.~:@-]{2})/;
const ALONE = /^[A-Za-z0-9_+/=.~:@-]{2,512}["'`]?\s{0,8}[+\\,;)]{0,2}\s{0,8}$/;

/** The token at the end of a line, which may go on in the next one; empty if there is none. */
function tailOf(line: string): string {
  let end = line.length;
  while (end > 0 && line.length - end < 16 && CLOSES.test(line.charAt(end - 1))) end -= 1;
  let start = end;
  while (start > 0 && end - start < MAX_PART && TOKEN.test(line.charAt(start - 1))) start -= 1;
  return end - start < MIN_PART ? '' : line.slice(start, end);
}

export const endsInToken = (line: string): boolean => tailOf(line) !== '';

interface Continuation {
  /** What the line adds to the token that it continues. */
  readonly part: string;
  /** The same without what closes it, if the line is a part of the token alone. */
  readonly alone: string | undefined;
}

function continuationIn(line: string): Continuation | undefined {
  const opens = OPENS.exec(line)?.[0];
  if (opens === undefined) return undefined;
  const part = line.slice(opens.length, MAX_PART);
  return { part, alone: ALONE.test(part) ? part.replace(/[^A-Za-z0-9_+/=.~:@-]+$/, '') : undefined };
}

export interface BrokenText {
  readonly text: string;
  /** What the text has without the first line. */
  readonly rest: string;
  readonly lines: number;
}

/**
 * Finds, for a line by its index, the texts that begin with the token at its end and go on in the next lines, with one line more each time. Each
 * line but the last one is a part of that token alone.
 */
export function brokenTextsIn(lines: readonly string[]): (index: number) => BrokenText[] {
  // In a long list of short lines, each of them continues many.
  const known = new Map<number, Continuation | undefined>();
  const continuation = (index: number): Continuation | undefined => {
    if (!known.has(index)) known.set(index, continuationIn(lines[index] as string));
    return known.get(index);
  };
  return (index) => {
    const texts: BrokenText[] = [];
    const begins = tailOf(lines[index] as string);
    let rest = '';
    for (let next = index + 1; begins !== '' && next < Math.min(lines.length, index + MAX_LINES); next += 1) {
      const found = continuation(next);
      if (!found) break;
      rest += found.part;
      texts.push({ text: begins + rest, rest, lines: next - index + 1 });
      if (found.alone === undefined) break;
      rest = rest.slice(0, rest.length - found.part.length + found.alone.length);
    }
    return texts;
  };
}
