/** A part of a word: text, or the value of a variable. */
export interface WordPiece {
  readonly text: string;
  readonly variable?: string;
  readonly isQuoted: boolean;
}

export type LinePart =
  | { readonly kind: 'word'; readonly pieces: readonly WordPiece[] }
  /** `operator` with its descriptor, such as `2>`. `&1` as a target is a descriptor. */
  | { readonly kind: 'redirection'; readonly operator: string; readonly pieces: readonly WordPiece[] }
  /** `;` for the end of a line, too. */
  | { readonly kind: 'operator'; readonly text: '&&' | '||' | '|' | ';' | '(' | ')' }
  | { readonly kind: 'refused'; readonly what: string };

/** Reads a line of a POSIX shell (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html), as far as `cmdLine` can say it. */
export class LineScanner {
  readonly #line: string;
  #at = 0;
  /** Whether a program may begin here. */
  #isStart = true;
  #refused: string | undefined;

  constructor(line: string) {
    this.#line = line.replaceAll('\r\n', '\n');
  }

  *parts(): Generator<LinePart> {
    while (this.#at < this.#line.length) {
      const part = this.#next();
      if (this.#refused !== undefined) return yield { kind: 'refused', what: this.#refused };
      if (part) yield part;
    }
  }

  #next(): LinePart | undefined {
    const rest = this.#line.slice(this.#at);
    const skip = /^(?:[ \t]+|\\\n|#[^\n]*)/.exec(rest)?.[0];
    if (skip !== undefined) return this.#skip(skip.length);
    const redirected = /^(?:\d*(?:>>|>|<)(?![<(]))[ \t]*/.exec(rest)?.[0];
    if (redirected !== undefined) return this.#redirection(redirected);
    const operator = /^(?:&&|\|\||\||;|\(|\)|\n)/.exec(rest)?.[0];
    if (operator !== undefined) {
      this.#at += operator.length;
      this.#isStart = true;
      return { kind: 'operator', text: (operator === '\n' ? ';' : operator) as ';' };
    }
    if (rest.startsWith('&')) return this.#refuse('a command in the background (&)');
    if (/^\d*<[<(]|^\d*>\(/.test(rest)) return this.#refuse('a here-document or a process substitution');
    if (this.#isStart && /^(?:if|for|while|until|case|function|\{|!|\[\[)(?=[\s;]|$)/.test(rest)) return this.#refuse(`"${/^\S+/.exec(rest)?.[0] ?? ''}" of a POSIX shell`);
    this.#isStart = false;
    return { kind: 'word', pieces: this.#word() };
  }

  #skip(length: number): undefined {
    this.#at += length;
  }

  #refuse(what: string): undefined {
    this.#refused ??= what;
    this.#at = this.#line.length;
  }

  #redirection(operator: string): LinePart | undefined {
    this.#at += operator.length;
    const descriptor = /^&\d/.exec(this.#line.slice(this.#at))?.[0];
    if (descriptor !== undefined) this.#at += descriptor.length;
    const pieces = descriptor === undefined ? this.#word() : [{ text: descriptor, isQuoted: true }];
    if (pieces.length === 0) return this.#refuse('a redirection without a file');
    return { kind: 'redirection', operator: operator.trim(), pieces };
  }

  #word(): WordPiece[] {
    const pieces: WordPiece[] = [];
    const add = (text: string, isQuoted: boolean): void => void pieces.push({ text, isQuoted });
    while (this.#at < this.#line.length) {
      const character = this.#line[this.#at] ?? '';
      if (/[\s;&|()<>]/.test(character)) break;
      if (character === "'") {
        const end = this.#line.indexOf("'", this.#at + 1);
        if (end < 0) return this.#unclosed();
        add(this.#line.slice(this.#at + 1, end), true);
        this.#at = end + 1;
      } else if (character === '"') {
        this.#at += 1;
        add('', true);
        while (this.#line[this.#at] !== '"') {
          if (this.#at >= this.#line.length) return this.#unclosed();
          if (!this.#variable(pieces, true)) add(this.#escaped(/["\\$`\n]/), true);
        }
        this.#at += 1;
      } else if (!this.#variable(pieces, false)) {
        add(this.#escaped(/[\s"'$`&|;()<>]/), character === '\\');
      }
    }
    return pieces;
  }

  #unclosed(): WordPiece[] {
    this.#refuse('a quote that does not end');
    return [];
  }

  /** One character. A backslash hides those of `escapable` alone; before others it is part of a path. */
  #escaped(escapable: RegExp): string {
    const [character = '', next = ''] = this.#line.slice(this.#at, this.#at + 2);
    const isEscape = character === '\\' && next !== '' && escapable.test(next);
    this.#at += isEscape ? 2 : 1;
    return isEscape ? (next === '\n' ? '' : next) : character;
  }

  #variable(pieces: WordPiece[], isQuoted: boolean): boolean {
    const rest = this.#line.slice(this.#at);
    const [whole, plain, braced] = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/.exec(rest) ?? [];
    const variable = plain ?? braced;
    if (whole !== undefined && variable !== undefined) {
      this.#at += whole.length;
      pieces.push({ text: '', variable, isQuoted });
      return true;
    }
    if (/^(?:`|\$[({@*#?!$\d])/.test(rest)) {
      this.#refuse(`"${rest.slice(0, 20)}" of a POSIX shell`);
      return true;
    }
    return false;
  }
}
