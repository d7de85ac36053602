import * as z from 'zod';
import type { ProjectFolder } from './project-folder.ts';
import type { SimpleCommand } from './shell-words.ts';

const names = z.record(z.string(), z.unknown()).catch({}).default({});
const composerSchema = z.object({
  'require': names,
  'require-dev': names,
  'scripts': z.record(z.string(), z.unknown()).catch({}).default({}),
});

/** What a composer.json says. */
export interface ComposerFile {
  /** Those that it asks for, by name. */
  readonly packages: ReadonlySet<string>;
  /** The lines of each script. */
  readonly scripts: ReadonlyMap<string, readonly string[]>;
}

/** Undefined if there is no composer.json, or it is not valid. */
export async function composerFile(folder: ProjectFolder): Promise<ComposerFile | undefined> {
  return composerIn(await folder.text('composer.json'));
}

export function composerIn(text: string | undefined): ComposerFile | undefined {
  if (text === undefined) return undefined;
  try {
    const { scripts, ...asked } = composerSchema.parse(JSON.parse(text));
    const lines = Object.entries(scripts).map(([name, said]) => [name, [said].flat().filter((line) => typeof line === 'string')] as const);
    return { packages: new Set([...Object.keys(asked.require), ...Object.keys(asked['require-dev'])]), scripts: new Map(lines) };
  } catch {
    return undefined;
  }
}

/** The script that looks like the tests and runs `isTests`, if there is one. */
export function testScript(composer: ComposerFile, isTests: (command: string) => boolean): string | undefined {
  return ['test', 'tests', 'phpunit', 'test:unit', 'unit', 'unit-test', 'unit-tests'].find((name) => isTests(scriptText(composer, name) ?? ''));
}

/** Composer's own commands that take a script's place, or run one. */
const RUN = new Set(['run', 'run-script']);
const MAX_DEPTH = 6;

/** What `composer test`, `composer run-script test -- --filter x` and the like run. Undefined for any other command. @param command the line that `words` are of */
export function composerScript({ words }: SimpleCommand, composer: ComposerFile, command: string): string | undefined {
  const [program, ...rest] = words;
  if (!/(?:^|\/)composer(?:\.phar)?$/.test(program?.text ?? '')) return undefined;
  const [verb, next] = rest.filter(({ text }) => !text.startsWith('-'));
  const name = RUN.has(verb?.text ?? '') ? next : verb;
  const text = name === undefined ? undefined : scriptText(composer, name.text);
  if (name === undefined || text === undefined) return undefined;
  const [from, to] = [rest.find(({ start, text: word }) => start > name.start && word !== '--'), rest.at(-1)];
  return from && to ? `${text} ${command.slice(from.start, to.end)}` : text;
}

/** The lines of a script as one line of a shell. Undefined if there is none, or it calls code of PHP. */
function scriptText(composer: ComposerFile, name: string, depth = 0): string | undefined {
  const lines = composer.scripts.get(name);
  if (lines === undefined || lines.length === 0 || depth > MAX_DEPTH) return undefined;
  const parts = lines.map((line) => {
    if (/^@(?:no_additional_args|additional_args)\b/.test(line) || /^Composer\\Config::disableProcessTimeout$/.test(line)) return '';
    const [, special, rest = ''] = /^@(\S+)\s*(.*)$/s.exec(line) ?? [];
    if (special === 'php') return `php ${rest}`;
    if (special === 'putenv') return `export ${rest}`;
    if (special === 'composer') return `composer ${rest}`;
    if (special === undefined) return /^[\w\\]+::\w+$/.test(line) ? undefined : line;
    const text = scriptText(composer, special, depth + 1);
    return text === undefined || rest === '' ? text : `${text} ${rest}`;
  });
  return parts.includes(undefined) ? undefined : parts.filter((part) => part !== '').join(' && ');
}
