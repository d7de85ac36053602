import path from 'node:path';
import { ProjectFolder, type PackageFile } from './project-folder.ts';
import { simpleCommands, withEdits, type Edit, type SimpleCommand } from './shell-words.ts';

/** Of scripts that run scripts. Beyond this depth they are taken for a cycle. */
const MAX_DEPTH = 4;

/**
 * Expands `npm test`, `yarn run unit -- --bail` and the like to the script's text, with the scripts that npm runs before and after it. Then
 * the runner can be recognized and made to write a report, the package manager is not needed, and a third of a second is saved. The command
 * runs in `folder`; a `cd` before it is followed.
 */
export async function expandScripts(command: string, folder: string, depth = 0): Promise<string> {
  if (depth >= MAX_DEPTH) return command;
  const edits: Edit[] = [];
  let current = folder;
  for (const simple of simpleCommands(command)) {
    const [first, second] = simple.words.map(({ text }) => text);
    if (first === 'cd' && second !== undefined) {
      current = path.resolve(current, second);
      continue;
    }
    const used = scriptUse(simple);
    if (used === undefined) continue;
    const scripts = (await new ProjectFolder(current).packageFile())?.scripts;
    const text = scripts === undefined ? undefined : lifecycleOf(scripts, used, command);
    const [start, end] = [simple.words[0]?.start, simple.words.at(-1)?.end];
    if (text === undefined || start === undefined || end === undefined) continue;
    edits.push({ start, end, text: await expandScripts(text, current, depth + 1) });
  }
  return withEdits(command, edits);
}

interface ScriptUse {
  readonly name: string;
  /** The position of the script's arguments. */
  readonly extra: { readonly start: number; readonly end: number } | undefined;
}

function scriptUse({ words }: SimpleCommand): ScriptUse | undefined {
  const texts = words.map(({ text }) => text);
  const [manager = '', verb = ''] = texts;
  if (!['npm', 'pnpm', 'yarn', 'bun'].includes(manager)) return undefined;
  let name: string | undefined;
  let next = 2;
  if (['t', 'tst'].includes(verb) && manager === 'npm') name = 'test';
  else if (verb === 'test' && manager !== 'bun') name = 'test';
  else if (verb === 'run' || verb === 'run-script') {
    // npm's own options before the script's name do not change the script, except the workspace options.
    while (['-s', '--silent', '--if-present'].includes(texts[next] ?? '')) next += 1;
    name = texts[next];
    next += 1;
  }
  if (name === undefined || name.startsWith('-')) return undefined;
  if (texts[next] === '--') next += 1;
  // Without `--`, npm takes options for itself, such as the workspace.
  else if (manager === 'npm' && texts.slice(next).some((text) => text.startsWith('-'))) return undefined;
  const [from, to] = [words[next], words.at(-1)];
  return { name, extra: from && to && { start: from.start, end: to.end } };
}

function lifecycleOf(scripts: PackageFile['scripts'], { name, extra }: ScriptUse, command: string): string | undefined {
  const script = scripts[name];
  if (script === undefined) return undefined;
  const withExtra = extra === undefined ? script : `${script} ${command.slice(extra.start, extra.end)}`;
  return [scripts[`pre${name}`], withExtra, scripts[`post${name}`]].filter((part) => part !== undefined).join(' && ');
}

/** The scripts of a package that look like its tests, the likeliest first. */
export function testScripts({ scripts }: PackageFile): readonly string[] {
  const rank = (name: string): number => (name === 'test' ? 0 : /^(test:unit|unit|test:ci)$/.test(name) ? 1 : 2);
  return Object.keys(scripts)
    .filter((name) => /^(?:test|unit|spec)(?:$|[:_-])/.test(name) && !/watch|cov|update|debug|e2e/.test(name))
    .sort((a, b) => rank(a) - rank(b));
}
