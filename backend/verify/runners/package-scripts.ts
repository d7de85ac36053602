import path from 'node:path';
import { ProjectFolder, type PackageFile } from './project-folder.ts';
import { simpleCommands, withEdits, type Edit, type SimpleCommand } from './shell-words.ts';

/** Of scripts that run scripts. Beyond this depth they are taken for a cycle. */
const MAX_DEPTH = 6;

/**
 * Expands `npm test`, `yarn run unit -- --bail`, `pnpm lint`, `run-s lint test:*` and the like to the script's text, with the scripts that
 * npm runs before and after it. Then the runner can be recognized and made to write a report, the package manager is not needed, and a
 * third of a second is saved. A program that a package manager starts (`yarn tsc`) is started without it. The command runs in `folder`; a
 * `cd` before it is followed.
 */
export async function expandScripts(command: string, folder: string, depth = 0): Promise<string> {
  if (depth >= MAX_DEPTH) return command;
  const edits: Edit[] = [];
  let current = folder;
  const commands = simpleCommands(command);
  for (const simple of commands) {
    const [first, second] = simple.words.map(({ text }) => text);
    if (first === 'cd' && second !== undefined) {
      current = path.resolve(current, second);
      continue;
    }
    const [start, end] = [simple.words[0]?.start, simple.words.at(-1)?.end];
    const scripts = (await new ProjectFolder(current).packageFile())?.scripts;
    const text = scripts && (expansionOf(simple, scripts, command) ?? runInTurn(simple, scripts));
    if (text === undefined || start === undefined || end === undefined) continue;
    const expanded = await expandScripts(text, current, depth + 1);
    // A script runs in a shell of its own: the folder that it changes to is left at its end.
    const changesFolder = commands.length > 1 && simpleCommands(expanded).some(({ words }) => words[0]?.text === 'cd');
    edits.push({ start, end, text: changesFolder ? `(${expanded})` : expanded });
  }
  return withEdits(command, edits);
}

interface ScriptUse {
  readonly name: string;
  /** The position of the script's arguments. */
  readonly extra: { readonly start: number; readonly end: number } | undefined;
  /** yarn and pnpm run a script by its name alone, or else the program of that name. */
  readonly program?: { readonly start: number };
}

/** What yarn and pnpm do themselves. Any other word is a script or a program. */
const OWN_VERBS = new Set([
  ...['add', 'audit', 'bin', 'cache', 'config', 'create', 'dedupe', 'deploy', 'dlx', 'env', 'fetch', 'global', 'help', 'i', 'import', 'info'],
  ...['init', 'install', 'licenses', 'link', 'list', 'login', 'logout', 'ls', 'node', 'npm', 'outdated', 'pack', 'patch', 'plugin', 'prune'],
  ...['publish', 'rebuild', 'recursive', 'remove', 'rm', 'root', 'set', 'setup', 'store', 'unlink', 'up', 'update', 'upgrade', 'version'],
  ...['versions', 'why', 'workspace', 'workspaces'],
]);

function scriptUse({ words }: SimpleCommand): ScriptUse | undefined {
  const texts = words.map(({ text }) => text);
  const [manager = '', verb = ''] = texts;
  if (!['npm', 'pnpm', 'yarn', 'bun'].includes(manager)) return undefined;
  let name: string | undefined;
  let next = 2;
  let isShort = false;
  if (['t', 'tst'].includes(verb) && manager === 'npm') name = 'test';
  else if (verb === 'test' && manager !== 'bun') name = 'test';
  else if (verb === 'run' || verb === 'run-script') {
    // npm's own options before the script's name do not change the script, except the workspace options.
    while (['-s', '--silent', '--if-present'].includes(texts[next] ?? '')) next += 1;
    name = texts[next];
    next += 1;
  } else if (['pnpm', 'yarn'].includes(manager) && /^[\w@]/.test(verb) && !OWN_VERBS.has(verb)) {
    isShort = true;
    next = verb === 'exec' ? 3 : 2;
    name = texts[next - 1];
  }
  if (name === undefined || name.startsWith('-')) return undefined;
  const program = isShort ? words[next - 1] : undefined;
  if (texts[next] === '--') next += 1;
  // Without `--`, npm takes options for itself, such as the workspace.
  else if (manager === 'npm' && texts.slice(next).some((text) => text.startsWith('-'))) return undefined;
  const [from, to] = [words[next], words.at(-1)];
  return { name, extra: from && to && { start: from.start, end: to.end }, ...(program && { program }) };
}

/** What a use of a package manager runs, if it runs a script or a program. */
function expansionOf(simple: SimpleCommand, scripts: PackageFile['scripts'], command: string): string | undefined {
  const used = scriptUse(simple);
  if (used === undefined) return undefined;
  const isExec = simple.words[1]?.text === 'exec';
  return (isExec ? undefined : lifecycleOf(scripts, used, command)) ?? (used.program && command.slice(used.program.start, simple.words.at(-1)?.end));
}

function lifecycleOf(scripts: PackageFile['scripts'], { name, extra }: ScriptUse, command: string): string | undefined {
  const script = scripts[name];
  if (script === undefined) return undefined;
  const withExtra = extra === undefined ? script : `${script} ${command.slice(extra.start, extra.end)}`;
  return [scripts[`pre${name}`], withExtra, scripts[`post${name}`]].filter((part) => part !== undefined).join(' && ');
}

/** Programs of the package npm-run-all. They run scripts, in turn or at the same time; for us, in turn. */
const RUN_ALL = new Set(['npm-run-all', 'npm-run-all2', 'run-s', 'run-p']);

function runInTurn({ words: [program, ...words] }: SimpleCommand, scripts: PackageFile['scripts']): string | undefined {
  if (program === undefined || !RUN_ALL.has(program.text)) return undefined;
  const names: string[] = [];
  for (const { text } of words) {
    // Arguments for scripts and other options with values are not understood.
    if (text === '--' || /^-(?:-.*=|n$|j$)/.test(text) || text.includes(' ')) return undefined;
    if (text.startsWith('-')) continue;
    const found = Object.keys(scripts).filter((name) => matches(name, text));
    if (found.length === 0) return undefined;
    names.push(...found);
  }
  return names.length === 0 ? undefined : names.map((name) => `npm run ${name}`).join(' && ');
}

/** `test:*`: one part more; `test:**`: any number of parts. */
function matches(name: string, pattern: string): boolean {
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('**', '\0').replaceAll('*', '[^:]*').replaceAll('\0', '.*');
  return new RegExp(`^${escaped}$`).test(name);
}

/** The scripts of a package that look like its tests, the likeliest first. */
export function testScripts({ scripts }: PackageFile): readonly string[] {
  const rank = (name: string): number => (name === 'test' ? 0 : /^(test:unit|unit|test:ci)$/.test(name) ? 1 : 2);
  return Object.keys(scripts)
    .filter((name) => /^(?:tests?|unit|spec)(?:$|[:_-])/.test(name) && !/watch|cov|update|debug|e2e/.test(name))
    .sort((a, b) => rank(a) - rank(b));
}
