import path from 'node:path';

/** A word of a command line. `text` is unquoted; `start` and `end` are its position. */
export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** One program with its arguments: the text between `&&`, `;`, `|` and the like. */
export interface SimpleCommand {
  /** `NAME=value` before the program, or as arguments of `env` and the like. */
  readonly assignments: readonly Word[];
  readonly words: readonly Word[];
}

const isAssignment = ({ text }: Word): boolean => /^[A-Za-z_]\w*=/.test(text);

/** Programs that set variables for another one. */
const ENVIRONMENT_PROGRAMS = new Set(['env', 'cross-env', 'cross-env-shell']);

/**
 * The programs that a POSIX shell line starts, as far as its text shows: enough to recognize the test runner and to add options to it.
 * Redirections and comments are left out. Variables and substitutions are parts of words and stay as they are.
 */
export function simpleCommands(line: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let words: Word[] = [];
  let isTarget = false;
  const endCommand = (): void => {
    if (words.length > 0) commands.push(commandOf(words));
    words = [];
    isTarget = false;
  };
  for (let at = 0; at < line.length; ) {
    const character = line[at] ?? '';
    if (character === '\n' || ';&|()'.includes(character)) {
      // `>&2` and `2>&1` are redirections.
      if (character === '&' && isTarget) at += 1;
      else {
        endCommand();
        at += 1;
      }
    } else if (/\s/.test(character)) {
      at += 1;
    } else if (line.startsWith('\\\n', at)) {
      at += 2;
    } else if (character === '#') {
      // Operators inside a word belong to the word.
      const end = line.indexOf('\n', at);
      at = end < 0 ? line.length : end;
    } else if (character === '<' || character === '>') {
      const last = words.at(-1);
      if (last && last.end === at && /^\d+$/.test(last.text)) words.pop();
      isTarget = true;
      at += 1;
    } else {
      const word = wordAt(line, at);
      if (!isTarget) words.push(word);
      isTarget = false;
      at = word.end;
    }
  }
  endCommand();
  return commands;
}

function commandOf(words: readonly Word[]): SimpleCommand {
  const from = (start: number): number => {
    const end = words.findIndex((word, index) => index >= start && !isAssignment(word));
    return end < 0 ? words.length : end;
  };
  const split = from(0);
  const program = ENVIRONMENT_PROGRAMS.has(words[split]?.text ?? '') ? from(split + 1) : split;
  // `env` alone, or with its own options, counts as a program.
  if (program === split || program === words.length || words[program]?.text.startsWith('-'))
    return { assignments: words.slice(0, split), words: words.slice(split) };
  return { assignments: words.slice(0, program).filter(isAssignment), words: words.slice(program) };
}

function wordAt(line: string, start: number): Word {
  let text = '';
  let at = start;
  const take = (end: number): void => {
    text += line.slice(at, end);
    at = end;
  };
  while (at < line.length) {
    const character = line[at] ?? '';
    if (/[\s;&|()<>]/.test(character)) break;
    const end = substitutionEnd(line, at);
    if (end !== undefined) {
      take(end);
    } else if (character === "'") {
      const close = line.indexOf("'", at + 1);
      text += line.slice(at + 1, close < 0 ? line.length : close);
      at = close < 0 ? line.length : close + 1;
    } else if (character === '"') {
      for (at += 1; at < line.length && line[at] !== '"'; ) {
        if (line[at] === '\\' && '"\\$`\n'.includes(line[at + 1] ?? ' ')) {
          text += line[at + 1] === '\n' ? '' : (line[at + 1] ?? '');
          at += 2;
        } else take(substitutionEnd(line, at) ?? at + 1);
      }
      at += 1;
    } else if (character === '\\') {
      text += line[at + 1] === '\n' ? '' : (line[at + 1] ?? '');
      at += 2;
    } else {
      take(at + 1);
    }
  }
  return { text, start, end: Math.min(at, line.length) };
}

/** The end of the substitution (`$(…)`, `${…}` or in backquotes) that begins here. Undefined if none does. */
function substitutionEnd(line: string, start: number): number | undefined {
  if (line[start] === '`') {
    for (let at = start + 1; at < line.length; at += line[at] === '\\' ? 2 : 1) if (line[at] === '`') return at + 1;
    return line.length;
  }
  if (line[start] !== '$' || !'({'.includes(line[start + 1] ?? ' ')) return undefined;
  const [open, close] = line[start + 1] === '(' ? '()' : '{}';
  let depth = 0;
  let quote = '';
  for (let at = start + 1; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (quote !== "'" && character === '\\') at += 1;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (character === open) depth += 1;
    else if (character === close) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return line.length;
}

/** Replaces the text between two positions. With `start === end` it inserts. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Edits must not overlap. */
export function withEdits(line: string, edits: readonly Edit[]): string {
  let result = line;
  for (const { start, end, text } of [...edits].sort((a, b) => b.start - a.start || b.end - a.end))
    result = result.slice(0, start) + text + result.slice(end);
  return result;
}

/** Programs that do not run a program among their arguments, and words after which something is only installed. */
const NO_LAUNCHERS = new Set([
  ...['cat', 'cd', 'cp', 'curl', 'docker', 'echo', 'export', 'find', 'git', 'grep', 'ls', 'mkdir', 'mv', 'pip', 'pip3', 'printf'],
  ...['rm', 'sed', 'set', 'test', 'touch', 'true', 'which', '[', ':', 'install', 'add', 'remove', 'create', 'init', 'make'],
]);

/** `/usr/bin/python3`: python3; `node_modules/vitest/vitest.mjs`: vitest. */
const programName = (word: string): string => (word.split('/').at(-1) ?? '').replace(/\.(?:[cm]?js|exe|cmd|py)$/, '');
/** `node_modules/vitest/dist/cli-wrapper.js`: vitest. */
const packageOf = (word: string): string => /(?:^|\/)node_modules\/([\w-]+)\/.*\.[cm]?js$/.exec(word)?.[1] ?? '';

/** The folder that a command line has changed to before an index, relative to where it begins. */
export const folderAt = (line: string, index = line.length): string =>
  path.posix.join(...simpleCommands(line).flatMap(({ words: [program, folder] }) => (program?.text === 'cd' && program.start < index && folder ? [folder.text] : [])));

/** A program in a command line: `words[index]` names it. */
export interface ProgramUse {
  readonly command: SimpleCommand;
  readonly index: number;
  readonly program: Word;
  readonly arguments: readonly Word[];
}

/**
 * The places where a command line starts one of these programs, directly or through another one such as `npx`, `python -m` or a wrapper of
 * the project.
 */
export function programUses(line: string, names: readonly string[]): readonly ProgramUse[] {
  return simpleCommands(line).flatMap((command) => {
    const { words } = command;
    for (const [index, word] of words.entries()) {
      const name = programName(word.text);
      if (names.includes(name) || names.includes(packageOf(word.text))) return [{ command, index, program: word, arguments: words.slice(index + 1) }];
      if (NO_LAUNCHERS.has(name)) return [];
    }
    return [];
  });
}
