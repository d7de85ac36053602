import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { expandScripts, testScripts } from './package-scripts.ts';
import type { ProjectFolder } from './project-folder.ts';
import type { RunToPrepare } from './test-runner.ts';
import { programUses, simpleCommands, withEdits, type Edit } from './shell-words.ts';

/**
 * The commands by which a package runs this runner: its test scripts, or else `fallback` where the runner is among what the package
 * installs and no test script says otherwise.
 */
export async function scriptCommands(folder: ProjectFolder, runner: JavaScriptRunner): Promise<readonly string[]> {
  const found = await folder.packageFile();
  if (!found) return [];
  const commands: string[] = [];
  for (const script of testScripts(found)) {
    const command = `npm ${script === 'test' ? 'test' : `run ${script}`}`;
    const expanded = await expandScripts(command, folder.folder);
    // The script itself where that is one program: shorter to read, and nothing is added by the package manager.
    if (understandsProgram(expanded, runner)) commands.push(simpleCommands(expanded).length === 1 ? expanded : command);
  }
  const isInstalled = runner.packages.some((name) => name in found.devDependencies || name in found.dependencies);
  const isFree = found.scripts.test === undefined || /no test specified/.test(found.scripts.test);
  if (commands.length === 0 && isInstalled && isFree) commands.push(runner.fallback);
  return commands;
}

export interface JavaScriptRunner {
  readonly programs: readonly string[];
  /** npm packages that bring the programs. */
  readonly packages: readonly string[];
  readonly fallback: string;
}

export function understandsProgram(command: string, { programs }: Pick<JavaScriptRunner, 'programs'>): boolean {
  return programUses(command, programs).length > 0;
}

/**
 * Takes options away from every use of the programs (with the value in the next word where it is written so) and adds others.
 * Options are added at the end: what stands there already counts for less.
 */
export function withOptions(
  command: string,
  programs: readonly string[],
  { remove, flags = [], add }: { remove: readonly string[]; flags?: readonly string[]; add: string },
): string {
  const edits: Edit[] = [];
  for (const { arguments: words, program } of programUses(command, programs)) {
    for (let index = 0; index < words.length; index += 1) {
      const word = words[index];
      if (!word || word.text === '--') break;
      const name = word.text.split('=', 1)[0] ?? '';
      if (flags.includes(name)) edits.push({ start: word.start, end: word.end, text: '' });
      if (!remove.some((option) => name === option || (option.startsWith('--') && name.startsWith(`${option}.`)))) continue;
      const next = words[index + 1];
      const hasValueBehind = !word.text.includes('=') && next !== undefined && !next.text.startsWith('-');
      edits.push({ start: word.start, end: hasValueBehind ? next.end : word.end, text: '' });
      if (hasValueBehind) index += 1;
    }
    // Behind `--` there are names of files.
    const dashes = words.find(({ text }) => text === '--');
    const at = dashes?.start ?? words.at(-1)?.end ?? program.end;
    edits.push({ start: at, end: at, text: dashes ? `${add} ` : ` ${add}` });
  }
  return withEdits(command, edits);
}

/**
 * Where the programs of installed packages lie, for the folder in which the command runs and for those above it. The folders themselves
 * and not the copy's links to them: those the tests could replace. What is not there yet is left out for the same reason.
 */
export async function binFolders({ command, copy }: Pick<RunToPrepare, 'command' | 'copy'>): Promise<readonly string[]> {
  const folders: string[] = [];
  let current = copy;
  for (const { words } of simpleCommands(command)) {
    if (words[0]?.text === 'cd' && words[1] !== undefined) current = path.resolve(current, words[1].text);
  }
  if (path.relative(copy, current).startsWith('..')) current = copy;
  for (; ; current = path.dirname(current)) {
    const folder = await realpath(path.join(current, 'node_modules', '.bin')).catch(() => undefined);
    if (folder !== undefined) folders.push(folder);
    if (current === copy || current === path.dirname(current)) return folders;
  }
}
