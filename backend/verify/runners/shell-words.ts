/** A word of a command line; `text` is without quotes, `start` and `end` are where it is written. */
export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** One program with its arguments: what stands between `&&`, `;`, `|` and their like. */
export interface SimpleCommand {
  /** `NAME=value` before the program. */
  readonly assignments: readonly Word[];
  readonly words: readonly Word[];
}

/**
 * The programs that a line for a POSIX shell starts, as far as they can be seen without running it: enough to tell which test
 * runner a command is and to add options to it. Redirections are left out; variables and substitutions stay as they are written.
 */
export function simpleCommands(line: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let words: Word[] = [];
  let isTarget = false;
  const endCommand = (): void => {
    const first = words.findIndex(({ text }) => !/^[A-Za-z_]\w*=/.test(text));
    const split = first < 0 ? words.length : first;
    if (words.length > 0) commands.push({ assignments: words.slice(0, split), words: words.slice(split) });
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

function wordAt(line: string, start: number): Word {
  let text = '';
  let at = start;
  while (at < line.length) {
    const character = line[at] ?? '';
    if (/[\s;&|()<>]/.test(character)) break;
    if (character === "'") {
      const end = line.indexOf("'", at + 1);
      text += line.slice(at + 1, end < 0 ? line.length : end);
      at = end < 0 ? line.length : end + 1;
    } else if (character === '"') {
      at += 1;
      for (; at < line.length && line[at] !== '"'; at += 1) {
        if (line[at] === '\\' && '"\\$`\n'.includes(line[at + 1] ?? ' ')) at += 1;
        text += line[at] ?? '';
      }
      at += 1;
    } else if (character === '\\') {
      text += line[at + 1] ?? '';
      at += 2;
    } else {
      text += character;
      at += 1;
    }
  }
  return { text, start, end: Math.min(at, line.length) };
}

/** A text instead of what stands between two places; `start === end` adds. */
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

/** Programs that run no other one that is named among their arguments, and words after which something is only installed. */
const NO_LAUNCHERS = new Set([
  ...['cat', 'cd', 'cp', 'curl', 'docker', 'echo', 'export', 'find', 'git', 'grep', 'ls', 'mkdir', 'mv', 'pip', 'pip3', 'printf'],
  ...['rm', 'sed', 'set', 'test', 'touch', 'true', 'which', '[', ':', 'install', 'add', 'remove', 'create', 'init', 'make'],
]);

/** `/usr/bin/python3`: python3; `node_modules/vitest/vitest.mjs`: vitest. */
const programName = (word: string): string => (word.split('/').at(-1) ?? '').replace(/\.(?:[cm]?js|exe|cmd|py)$/, '');

/** A program in a command line: `words[index]` names it. */
export interface ProgramUse {
  readonly command: SimpleCommand;
  readonly index: number;
  readonly program: Word;
  readonly arguments: readonly Word[];
}

/**
 * Where a command line starts one of these programs, by itself or through another one, such as `npx`, `python -m` or a wrapper of
 * the project's own.
 */
export function programUses(line: string, names: readonly string[]): readonly ProgramUse[] {
  return simpleCommands(line).flatMap((command) => {
    const { words } = command;
    for (const [index, word] of words.entries()) {
      const name = programName(word.text);
      if (names.includes(name)) return [{ command, index, program: word, arguments: words.slice(index + 1) }];
      if (NO_LAUNCHERS.has(name)) return [];
    }
    return [];
  });
}
