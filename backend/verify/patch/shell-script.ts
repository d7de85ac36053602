import type { AnswerBlock } from './answer-block.ts';
import { looksLikePath } from './named-path.ts';

/*
 * Models write files by the commands that a person would paste into a terminal. A script is never run. What it writes to a file to the letter, from
 * a here-document, is read as the file; of every other command that changes files it is said that it is one.
 */

export const isShell = (language: string): boolean => /^(?:bash|sh|shell|zsh|fish|console|terminal|shellsession|shell-session|powershell|pwsh|ps1|cmd|bat)$/i.test(language);

const NOT_RUN = 'The answer changes the file by a command, which is not run';
const HERE_DOCUMENT = /<<(-?)\s*(["']?)\\?([\w.-]+)\2/;
const MAX_LINE = 2_000;

/** Whether a block without a language is such a script. */
export const looksLikeScript = (lines: readonly string[]): boolean => lines.some((line) => line.length < MAX_LINE && /^(?:.*(?:&&|;))?\s*(?:[$>%] )?(?:sudo )?(?:cat|tee)\b.*<</.test(line) && HERE_DOCUMENT.test(line));

/** The changes of files that a script makes, in its order; none where it changes none. */
export function scriptBlocks(lines: readonly string[]): AnswerBlock[] {
  const found = [...commandsOf(lines)].flatMap(blockOf);
  const [writes, commands] = [found.filter(({ kind }) => kind !== 'command'), found.filter((block) => block.kind === 'command')];
  // What else a script does to files belongs to what it writes.
  return writes.length === 0 ? commands : [...writes, ...commands.map(({ paths: [path = '(command)'], command }): AnswerBlock => ({ kind: 'broken', path, reason: whyNotRun(command) }))];
}

export const whyNotRun = (command: string): string => `${NOT_RUN}: ${JSON.stringify(command.slice(0, 120))}.`;

interface Command {
  readonly line: string;
  /** The folder that it is run in. */
  readonly folder: string;
  readonly here?: { readonly text: string; readonly isLiteral: boolean; readonly isEnded: boolean };
}

function* commandsOf(lines: readonly string[]): Generator<Command> {
  let folder = '';
  for (let index = 0; index < lines.length; index += 1) {
    let line = (lines[index] ?? '').trim().replace(/^[$>%] /, '');
    while (line.endsWith('\\') && index + 1 < lines.length) line = `${line.slice(0, -1)}${(lines[(index += 1)] ?? '').trim()}`;
    if (line === '' || line.startsWith('#') || line.length > MAX_LINE) continue;
    const into = /(?:^|&& |; )cd\s+["']?([^\s;&"']+)/.exec(line)?.[1];
    // What a model takes for the root of the file system is that of the project.
    if (into !== undefined) folder = /^[/~$]|^[A-Za-z]:|\.\./.test(into) ? '' : `${folder}${into.replace(/^\.\/?/, '').replace(/\/?$/, into === '.' ? '' : '/')}`;
    const [, dash, quote = '', word] = HERE_DOCUMENT.exec(line) ?? [];
    if (word === undefined) {
      yield { line, folder };
      continue;
    }
    const body: string[] = [];
    const own = (text: string): string => (dash === '-' ? text.replace(/^\t+/, '') : text);
    for (index += 1; index < lines.length && own(lines[index] ?? '') !== word; index += 1) body.push(own(lines[index] ?? ''));
    const isQuoted = quote !== '' || line.includes(`<<\\${word}`);
    yield { line, folder, here: { ...asText(body.map((text) => `${text}\n`).join(''), isQuoted), isEnded: index < lines.length } };
  }
}

/** What the shell makes of a here-document. Without quotes around its end word, variables and commands in it are expanded. */
function asText(body: string, isQuoted: boolean): { readonly text: string; readonly isLiteral: boolean } {
  if (isQuoted) return { text: body, isLiteral: true };
  const isLiteral = !/(?<!\\)(?:\\\\)*(?:`|\$[\w{(@*#?!$-])/.test(body);
  return { text: body.replaceAll(/\\([$`\\]|\n)/g, (_, sign: string) => (sign === '\n' ? '' : sign)), isLiteral };
}

function blockOf({ line, folder, here }: Command): AnswerBlock[] {
  const target = here && targetOf(line);
  if (!here || !target) return changesFiles(line, here?.text ?? '') ? [{ kind: 'command', command: line, paths: pathsOf(`${line}\n${here?.text ?? ''}`).map((path) => folder + path) }] : [];
  const path = /^[/~]|^[A-Za-z]:/.test(target.path) ? target.path : folder + target.path;
  if (!here.isEnded) return [{ kind: 'broken', path, reason: 'The text of the command has no end: the answer seems to be cut off.' }];
  if (!here.isLiteral) return [{ kind: 'broken', path, reason: `${whyNotRun(line).slice(0, -1)}; its text holds what a shell would expand.` }];
  return [target.isAppended ? { kind: 'appended', path, content: here.text } : { kind: 'file', path, content: here.text, mustBeNew: false, isWhole: true }];
}

/** The file that `cat` or `tee` writes its here-document to. */
function targetOf(line: string): { readonly path: string; readonly isAppended: boolean } | undefined {
  const own = line.split(/(?:&&|;)\s*/).find((part) => part.includes('<<')) ?? line;
  const plain = own.replace(HERE_DOCUMENT, ' ').replaceAll(/\d?>\s*(?:&\d|\/dev\/null)/g, ' ');
  const [, sign = '', quoted, word] = /^(?:sudo\s+)?cat\b[^|>]*(>>?)\|?\s*(?:"([^"$`]+)"|([^\s"'|;&<>$`]+))/.exec(plain.replaceAll("'", '"')) ?? [];
  const written = quoted ?? word;
  if (written !== undefined) return { path: written, isAppended: sign === '>>' };
  const [, options = '', name] = /^(?:sudo\s+)?(?:cat\s*\|\s*)?tee\s+((?:-\S+\s+)*)["']?([^\s"'|;&<>$`]+)/.exec(plain) ?? /\|\s*(?:sudo\s+)?tee\s+((?:-\S+\s+)*)["']?([^\s"'|;&<>$`]+)/.exec(plain) ?? [];
  return name === undefined ? undefined : { path: name, isAppended: /-a|--append/.test(options) };
}

const IN_PLACE = /\b(?:g?sed\s+(?:-\S+\s+)*(?:-\w*i|--in-place)|perl\s+(?:-\S+\s+)*-\w*i)|\bawk\s+-i\s+inplace|\b(?:ed|ex)\s+-?s?\b.*<</;
const MOVES = /^(?:sudo\s+)?(?:git\s+)?(?:mv|rm)\s/;
const REDIRECTS = /^(?:echo|printf)\s.*>|\|\s*(?:sudo\s+)?tee\s/;
const CMDLETS = /\b(?:Set-Content|Add-Content|Out-File)\b/i;
const INTERPRETER = /^(?:python\d?|node|ruby|perl|php|deno|bun)\b/;
const WRITES = /\bwrite_text\(|\bopen\([^)\n]*["'][wa]\+?["']|\bwriteFile(?:Sync)?\(|\bFile\.write\(|\bfile_put_contents\(/;

const changesFiles = (line: string, body: string): boolean =>
  line.split(/(?:&&|;)\s*/).some((part) => IN_PLACE.test(part) || MOVES.test(part) || REDIRECTS.test(part) || CMDLETS.test(part) || (INTERPRETER.test(part) && WRITES.test(`${line}\n${body}`)));

/** What could be paths of files in a command. */
function pathsOf(command: string): string[] {
  const words = command.slice(0, 20_000).split(/[\s"'`()<>|;,=]+/).filter((word) => /\.\w+$/.test(word) && looksLikePath(word));
  return [...new Set(words.map((word) => word.replace(/^(?:\.\/)+/, '')))].slice(0, 50);
}
