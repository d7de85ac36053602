import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { expandScripts, scriptCommand, testScripts } from './package-scripts.ts';
import type { PackageFile, ProjectFolder } from './project-folder.ts';
import type { RunToPrepare } from './test-runner.ts';
import { programUses, simpleCommands, withEdits, type Edit } from './shell-words.ts';

/**
 * The commands by which a package runs this runner: its test scripts, or else `fallback` if the package depends on the runner and has no
 * other test script, or if it is a project of Nx that configures the runner: Nx runs that without a script.
 */
export async function scriptCommands(folder: ProjectFolder, runner: JavaScriptRunner): Promise<readonly string[]> {
  const found = await folder.packageFile();
  const commands = found ? await commandsOfPackage(found, folder, runner) : [];
  const { configuredBy } = runner;
  const isOfNx = commands.length === 0 && configuredBy !== undefined && (await folder.has(NX_PROJECT));
  return isOfNx && (await folder.hasFile(configuredBy.name, configuredBy)) ? [runner.fallback] : commands;
}

/** The file by which Nx knows a project. */
export const NX_PROJECT = 'project.json';

async function commandsOfPackage(found: PackageFile, folder: ProjectFolder, runner: JavaScriptRunner): Promise<readonly string[]> {
  const commands: string[] = [];
  for (const script of testScripts(found)) {
    const command = scriptCommand(script);
    const expanded = await expandScripts(command, folder.folder);
    // A script that is a single program is used directly: it is shorter, and the package manager adds nothing.
    if (understandsProgram(expanded, runner)) commands.push(simpleCommands(expanded).length === 1 ? expanded : command);
  }
  const isInstalled = runner.packages.some((name) => name in found.devDependencies || name in found.dependencies);
  const isFree = found.scripts.test === undefined || /no test specified/.test(found.scripts.test);
  if (commands.length === 0 && isInstalled && isFree && !(await isForPackagesBelow(folder, runner))) commands.push(runner.fallback);
  return commands;
}

/** Whether the root of a monorepo has a runner for the scripts of its packages alone: there is no file that configures it. */
async function isForPackagesBelow(folder: ProjectFolder, { programs }: JavaScriptRunner): Promise<boolean> {
  const isRoot = (await folder.has('pnpm-workspace.yaml', 'lerna.json')) || /"workspaces"\s*:/.test((await folder.text('package.json')) ?? '');
  if (!isRoot) return false;
  const configures = new RegExp(`^\\.?(?:${programs.join('|')}|vite)(?:\\.(?:config|workspace|projects)\\.|rc(?:\\.|$))`);
  return (await folder.filesNamed(configures)).length === 0;
}

export interface JavaScriptRunner {
  readonly programs: readonly string[];
  /** The npm packages of the programs. */
  readonly packages: readonly string[];
  readonly fallback: string;
  /** The file in a project's own folder that configures the runner, and what its text says. */
  readonly configuredBy?: { readonly name: RegExp; readonly text: RegExp };
}

export function understandsProgram(command: string, { programs }: Pick<JavaScriptRunner, 'programs'>): boolean {
  return programUses(command, programs).length > 0;
}

/**
 * Removes options from every use of the programs, together with a value in the next word, and adds others. They are added at the end, where
 * they have precedence.
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
    // After `--` there are file names.
    const dashes = words.find(({ text }) => text === '--');
    const at = dashes?.start ?? words.at(-1)?.end ?? program.end;
    edits.push({ start: at, end: at, text: dashes ? `${add} ` : ` ${add}` });
  }
  return withEdits(command, edits);
}

/**
 * The program folders of installed packages, for the folder in which the command runs and those above it. These are the real folders, not
 * the copy's links, which the tests could replace. Folders that do not exist yet are left out for the same reason.
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
