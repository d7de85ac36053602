/*
 * Reads the list literals that language models write: Python's, JSON's, and mixtures of both. Nothing is evaluated. Each character is
 * read a bounded number of times, so that no text makes it hang.
 */

/** A value of a list literal. A bare word, such as an unquoted all, is read as a string. */
export type Literal = string | number | Literal[];

export interface ReadList {
  readonly items: Literal[];
  /** Position after the closing bracket. */
  readonly end: number;
}

/** Nesting deeper than any plan's is refused, to protect the call stack. */
const MAX_DEPTH = 8;

class Malformed extends Error {}

/** Opening quotes and what closes them. Models that learned from prose write curly ones. */
const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '“': '”"', '‘': '’\'' };

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '0': '\0', '\\': '\\', "'": "'", '"': '"', '/': '/', '\n': '',
};

/**
 * Reads the list whose opening bracket is at `start`. If strict reading fails, it reads again leniently: a quote then ends a string only
 * where an item can end, and unquoted words are strings.
 * @returns undefined if both readings fail.
 */
export function readList(text: string, start: number): ReadList | undefined {
  for (const lenient of [false, true]) {
    const reader = new ListReader(text, start, lenient);
    try {
      return { items: reader.list(0), end: reader.position };
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
    }
  }
  return undefined;
}

class ListReader {
  readonly #text: string;
  readonly #lenient: boolean;
  position: number;

  constructor(text: string, start: number, lenient: boolean) {
    this.#text = text;
    this.position = start;
    this.#lenient = lenient;
  }

  get #next(): string {
    return this.#text[this.position] ?? '';
  }

  list(depth: number): Literal[] {
    if (depth > MAX_DEPTH) throw new Malformed();
    const close = this.#next === '(' ? ')' : ']';
    this.position += 1;
    const items: Literal[] = [];
    for (;;) {
      this.#skipSpace();
      if (this.#next === close) {
        this.position += 1;
        return items;
      }
      items.push(this.#item(depth));
      this.#skipSpace();
      if (this.#next === ',') this.position += 1;
      else if (this.#next !== close) throw new Malformed();
    }
  }

  #item(depth: number): Literal {
    if (this.#next === '[' || this.#next === '(') return this.list(depth + 1);
    const prefix = /[rRuUfFbB]{1,2}(?=["'])/y;
    prefix.lastIndex = this.position;
    const raw = prefix.exec(this.#text)?.[0] ?? '';
    if (QUOTES[this.#text[this.position + raw.length] ?? '']) {
      this.position += raw.length;
      return this.#strings(/r/i.test(raw));
    }
    return this.#bare();
  }

  /** One string, or several adjacent ones that are joined as in Python. */
  #strings(raw: boolean): string {
    let value = this.#string(raw);
    for (;;) {
      const before = this.position;
      this.#skipSpace();
      if (!QUOTES[this.#next]) {
        this.position = before;
        return value;
      }
      value += this.#string(raw);
    }
  }

  #string(raw: boolean): string {
    const opening = this.#next;
    const triple = opening.repeat(3);
    if ((opening === '"' || opening === "'") && this.#text.startsWith(triple, this.position)) return this.#until(triple, raw);
    const closing = QUOTES[opening] as string;
    this.position += 1;
    let value = '';
    for (;;) {
      const character = this.#next;
      if (character === '') throw new Malformed();
      if (character === '\\' && !raw) value += this.#escape();
      else if (closing.includes(character) && (!this.#lenient || this.#canEndItem(this.position + 1))) {
        this.position += 1;
        return value;
      } else {
        value += character;
        this.position += 1;
      }
    }
  }

  #until(triple: string, raw: boolean): string {
    this.position += 3;
    let value = '';
    while (!this.#text.startsWith(triple, this.position)) {
      if (this.#next === '') throw new Malformed();
      if (this.#next === '\\' && !raw) value += this.#escape();
      else {
        value += this.#next;
        this.position += 1;
      }
    }
    this.position += 3;
    return value;
  }

  #escape(): string {
    const coded = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))/y;
    coded.lastIndex = this.position;
    const match = coded.exec(this.#text);
    if (match) {
      const code = Number.parseInt(match[1] ?? match[2] ?? match[3] ?? '', 16);
      if (code > 0x10ffff) throw new Malformed();
      this.position += match[0].length;
      return match[1] === undefined ? String.fromCodePoint(code) : String.fromCharCode(code);
    }
    const character = this.#text[this.position + 1];
    if (character === undefined) throw new Malformed();
    this.position += 2;
    // As in Python, a backslash before any other character is a backslash.
    return ESCAPES[character] ?? `\\${character}`;
  }

  /** Whether an item can end at `position`: only space before a comma, a bracket or the end. */
  #canEndItem(position: number): boolean {
    const rest = /\s*(.?)/ys;
    rest.lastIndex = position;
    return [',', ']', ')', ''].includes(rest.exec(this.#text)?.[1] ?? '');
  }

  /** A number or, leniently, words without quotes. */
  #bare(): Literal {
    const word = this.#lenient ? /[^,[\]()\n]+/y : /[+-]?\w[\w.]*/y;
    word.lastIndex = this.position;
    const match = word.exec(this.#text)?.[0];
    if (match === undefined) throw new Malformed();
    this.position += match.length;
    const text = match.trim();
    return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : text;
  }

  #skipSpace(): void {
    const space = /(?:\s|#[^\n]*)*/y;
    space.lastIndex = this.position;
    this.position += space.exec(this.#text)?.[0].length ?? 0;
  }
}
