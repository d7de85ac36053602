import { LineScanner, type LinePart, type WordPiece } from './line-scanner.ts';

/** The command says something that cmd.exe cannot be told. The message names it and says what to do. */
export class NotForWindowsError extends Error {
  override readonly name = 'NotForWindowsError';
}

export interface CmdLineOptions {
  /** What `$NAME` stands for. Names are compared without case, as Windows does. */
  readonly environment: Readonly<Record<string, string>>;
  /** What a program is called here. */
  readonly named?: (program: string) => string;
  /** Whether a program is a batch file, which cmd.exe reads a second time. */
  readonly isBatch: (program: string) => boolean;
}

/** cmd.exe reads no longer line (https://learn.microsoft.com/troubleshoot/windows-client/shell-experience/command-line-string-limitation). */
const MAX_CHARACTERS = 8_191;

/**
 * The line of cmd.exe that does what a line of a POSIX shell does: programs with their arguments, joined by `&&`, `||`, `;` and `|`, in
 * parentheses, with redirections, `NAME=value` and `$NAME`. For `cmd.exe /d /s /c "LINE"`, passed verbatim.
 *
 * There is one language of commands on all systems, so that a script of a project is understood once. A backslash before a letter is part of
 * a Windows path. A variable that a line sets for one program stays set for the rest of the line.
 * @throws NotForWindowsError
 */
export function cmdLine(line: string, options: CmdLineOptions): string {
  const variables = new Map(Object.entries(options.environment).map(([name, value]) => [name.toUpperCase(), value]));
  const written: string[] = [];
  let command: LinePart[] = [];
  const endCommand = (): void => {
    if (command.length > 0) written.push(simpleCommand(command, variables, options));
    command = [];
  };
  for (const part of new LineScanner(line).parts()) {
    if (part.kind === 'refused') throw new NotForWindowsError(`On Windows, the command cannot use ${part.what}: "${clipped(line)}". Name one that cmd.exe can run, or open the folder in WSL.`);
    if (part.kind !== 'operator') {
      command.push(part);
      continue;
    }
    endCommand();
    // An empty command, as two line ends make one, is nothing.
    if (part.text === ';' && !JOINING.has(written.at(-1) ?? '(')) written.push('&');
    if (part.text === ')' && written.at(-1) === '&') written.pop();
    if (part.text !== ';') written.push(part.text);
  }
  endCommand();
  if (written.at(-1) === '&') written.pop();
  const text = written.join(' ');
  if (text.includes('\n')) throw new NotForWindowsError(`On Windows, no argument of a command can have several lines: "${clipped(line)}".`);
  if (text.length > MAX_CHARACTERS) throw new NotForWindowsError(`The command has ${text.length} characters, and cmd.exe reads ${MAX_CHARACTERS}: name fewer files in it.`);
  return text;
}

const JOINING = new Set(['&', '&&', '||', '|', '(']);

const clipped = (line: string): string => (line.length > 200 ? `${line.slice(0, 200)}…` : line);

/** Programs of a POSIX shell that are said in another way, or that are not needed. */
const BUILTINS: Readonly<Record<string, (words: readonly string[]) => string | undefined>> = {
  cd: ([folder]) => (folder === undefined ? undefined : `cd /d ${argument(backslashes(folder), 1)}`),
  ':': () => 'ver >NUL',
  true: () => 'ver >NUL',
  false: () => 'cmd /d /c exit 1',
};

/** Set variables for what follows, as `NAME=value` before a program does. */
const SETTERS = new Set(['export', 'env']);

function simpleCommand(parts: readonly LinePart[], variables: Map<string, string>, options: CmdLineOptions): string {
  const words = parts.flatMap((part) => (part.kind === 'word' ? expanded(part.pieces, variables) : []));
  const redirections = parts.flatMap((part) => (part.kind === 'redirection' ? [redirection(part, variables)] : []));
  const sets: string[] = [];
  let at = 0;
  const takeAssignments = (): void => {
    for (; /^[A-Za-z_]\w*=/.test(words[at] ?? ''); at += 1) {
      const word = words[at] ?? '';
      const [name, value] = [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)];
      variables.set(name.toUpperCase(), value);
      sets.push(`set ${carets(`"${name}=${value}"`)}`);
    }
  };
  takeAssignments();
  while (words[at] === 'exec' || SETTERS.has(words[at] ?? '')) {
    at += 1;
    takeAssignments();
  }
  if (words[at] === 'unset') {
    for (const name of words.slice(at + 1)) {
      variables.delete(name.toUpperCase());
      // Removing what is not set is a failure.
      sets.push(`(set "${name}=" & ver >NUL)`);
    }
    at = words.length;
  }
  const [program, ...given] = words.slice(at);
  const builtin = program === undefined ? undefined : Object.hasOwn(BUILTINS, program) ? BUILTINS[program]?.(given) : undefined;
  const run = program === undefined ? [] : [builtin ?? programLine(program, given, options)];
  const all = [...sets, ...run].join('&& ');
  const text = sets.length > 0 && run.length > 0 ? `(${all})` : all;
  return [text, ...redirections].filter((part) => part !== '').join(' ');
}

function programLine(program: string, given: readonly string[], { named = (name) => name, isBatch }: CmdLineOptions): string {
  const name = named(program.includes('/') ? backslashes(program) : program);
  const readings = isBatch(name) ? 2 : 1;
  return [argument(name, 1), ...given.map((word) => argument(word, readings))].join(' ');
}

/** cmd.exe takes a slash in a program's name for the beginning of an option. */
const backslashes = (file: string): string => file.replaceAll('/', '\\');

/** The words that a word stands for: an unquoted variable is split at spaces, and is nothing where it is empty. */
function expanded(pieces: readonly WordPiece[], variables: ReadonlyMap<string, string>): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const { text, variable, isQuoted } of pieces) {
    const value = variable === undefined ? text : (variables.get(variable.toUpperCase()) ?? '');
    if (variable === undefined || isQuoted) {
      word = (word ?? '') + value;
      continue;
    }
    const [first = '', ...others] = value.split(/[ \t\n]+/);
    if (first !== '') word = (word ?? '') + first;
    for (const other of others) {
      if (word !== undefined) words.push(word);
      word = other === '' ? undefined : other;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}

function redirection({ operator, pieces }: LinePart & { kind: 'redirection' }, variables: ReadonlyMap<string, string>): string {
  const [target = ''] = expanded(pieces, variables);
  if (/^&\d$/.test(target)) return `${operator}${target}`;
  return `${operator}${target === '/dev/null' ? 'NUL' : argument(backslashes(target), 1)}`;
}

const PLAIN = /^[\w./\\:@+~*?{}[\]#$-]+$/;

/**
 * One argument, quoted as the C library of Windows reads it
 * (https://learn.microsoft.com/cpp/c-language/parsing-c-command-line-arguments), and hidden from cmd.exe.
 * @param readings how often cmd.exe reads it: once more if the program is a batch file.
 */
export function argument(text: string, readings: number): string {
  if (PLAIN.test(text)) return text;
  const quoted = `"${text.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
  // Quotes hide all but quotes and percent signs from cmd.exe.
  if (!/["%]/.test(text)) return quoted;
  let hidden = quoted;
  for (let reading = 0; reading < readings; reading += 1) hidden = carets(hidden);
  return hidden;
}

/** cmd.exe expands `%NAME%` before it reads carets, and there is no variable with a caret at its end. */
const carets = (text: string): string => text.replaceAll(/[()%!^"<>&|]/g, '^$&');
