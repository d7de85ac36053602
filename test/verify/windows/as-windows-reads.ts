/*
 * How Windows reads a command line, written from its documentation and not from what quotes for it: cmd.exe first
 * (https://ss64.com/nt/syntax-esc.html: percent signs, then carets and quotes), then the C library of the program
 * (https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments).
 */

/** What cmd.exe hands on of one command. Throws where it would see more than one command or a redirection. */
export function afterCmd(line: string, variables: Readonly<Record<string, string>> = {}): string {
  const expanded = line.replaceAll(/%([^%]+)%/g, (whole, name: string) => variables[name.toUpperCase()] ?? whole);
  let [text, isQuoted] = ['', false];
  for (let at = 0; at < expanded.length; at += 1) {
    const character = expanded[at] ?? '';
    if (character === '"') isQuoted = !isQuoted;
    if (!isQuoted && '&|<>()'.includes(character)) throw new Error(`cmd.exe takes ${character} for its own in ${line}`);
    if (!isQuoted && character === '^') at += 1;
    text += !isQuoted && character === '^' ? (expanded[at] ?? '') : character;
  }
  return text;
}

/** The arguments that a program finds in its command line, the name of the program left out. */
export function argumentsOf(line: string): string[] {
  const found: string[] = [];
  let [word, isQuoted] = [undefined as string | undefined, false];
  for (let at = 0; at < line.length; at += 1) {
    const backslashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0;
    if (backslashes > 0) {
      const isBeforeQuote = line[at + backslashes] === '"';
      word = (word ?? '') + '\\'.repeat(isBeforeQuote ? Math.floor(backslashes / 2) : backslashes);
      at += backslashes - 1;
      if (isBeforeQuote && backslashes % 2 === 1) {
        word += '"';
        at += 1;
      }
      continue;
    }
    const character = line[at] ?? '';
    if (character === '"') {
      // Two quotes inside of quotes are one.
      if (isQuoted && line[at + 1] === '"') {
        word = `${word ?? ''}"`;
        at += 1;
      } else isQuoted = !isQuoted;
      word ??= '';
    } else if (/[ \t]/.test(character) && !isQuoted) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) found.push(word);
  return found.slice(1);
}
