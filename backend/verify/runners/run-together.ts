import type { PackageFile } from './project-folder.ts';
import type { SimpleCommand, Word } from './shell-words.ts';

/* Programs that run several scripts, in turn or at the same time. For us they run in turn: the end is the same. */

/** Programs of the package npm-run-all. */
const RUN_ALL: ReadonlySet<string> = new Set(['npm-run-all', 'npm-run-all2', 'run-s', 'run-p']);
const CONCURRENTLY = 'concurrently';
export const SCRIPTS_TOGETHER: readonly string[] = [...RUN_ALL, CONCURRENTLY];

type Scripts = PackageFile['scripts'];

const inTurn = (commands: readonly string[]): string | undefined => (commands.length === 0 ? undefined : commands.join(' && '));

/** The commands that such a program runs, in turn. Undefined for any other program, and for what is not understood. */
export function runInTurn({ words: [program, ...words] }: SimpleCommand, scripts: Scripts): string | undefined {
  if (program === undefined) return undefined;
  if (RUN_ALL.has(program.text)) return runAll(words, scripts);
  return program.text === CONCURRENTLY ? concurrently(words, scripts) : undefined;
}

function runAll(words: readonly Word[], scripts: Scripts): string | undefined {
  const commands: string[] = [];
  for (const { text } of words) {
    // Arguments for all scripts and other options with values are not understood.
    if (text === '--' || /^-(?:-.*=|n$|j$)/.test(text)) return undefined;
    if (text.startsWith('-')) continue;
    const named = namedScripts(text, scripts, (pattern) => pattern);
    if (!named) return undefined;
    commands.push(...named);
  }
  return inTurn(commands);
}

const OF_CONCURRENTLY = {
  flags: new Set(['--kill-others-on-fail', '-g', '--group', '-r', '--raw', '--no-color', '--timings', '--passthrough-arguments', '-P']),
  values: new Set(['-n', '--names', '-c', '--prefix-colors', '-p', '--prefix', '-m', '--max-processes', '-l', '--prefix-length']),
};

/** Where one command ends the others (`--kill-others`), they are not the same in turn. */
function concurrently(words: readonly Word[], scripts: Scripts): string | undefined {
  const commands: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const text = words[index]?.text ?? '';
    if (text.startsWith('-')) {
      const [name = ''] = text.split('=', 1);
      if (OF_CONCURRENTLY.values.has(name)) index += text.includes('=') ? 0 : 1;
      else if (!OF_CONCURRENTLY.flags.has(name)) return undefined;
      continue;
    }
    const [, script] = /^(?:npm|yarn|pnpm|bun|node):(.*)$/s.exec(text) ?? [];
    // Its `*` stands for any number of parts.
    const named = script === undefined ? [text] : namedScripts(script, scripts, (pattern) => pattern.replaceAll('*', '**'));
    if (!named) return undefined;
    commands.push(...named);
  }
  return inTurn(commands);
}

/** `unit`, `test:*` and `unit -- --ci`: how each is run. Undefined if there is none. */
function namedScripts(text: string, scripts: Scripts, patternOf: (name: string) => string): readonly string[] | undefined {
  const [, pattern = '', rest = ''] = /^(\S*)(?:\s+(?:--\s+)?(.*))?$/s.exec(text) ?? [];
  const found = Object.keys(scripts).filter((name) => matches(name, patternOf(pattern)));
  return found.length === 0 ? undefined : found.map((name) => `npm run ${name}${rest === '' ? '' : ` -- ${rest}`}`);
}

/** `test:*`: one part more; `test:**`: any number of parts. */
function matches(name: string, pattern: string): boolean {
  const escaped = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('**', '\0').replaceAll('*', '[^:]*').replaceAll('\0', '.*');
  return new RegExp(`^${escaped}$`).test(name);
}

/** The scripts that pnpm runs for `/^test:/`. Patterns of other forms are left to pnpm: one that a stranger wrote could take for ever. */
export function scriptsMatching(text: string, scripts: Scripts): string | undefined {
  const [, pattern] = /^\/([\w:^$|-]+(?:\.[*+])?\$?)\/$/.exec(text) ?? [];
  if (pattern === undefined) return undefined;
  return inTurn(Object.keys(scripts).filter((name) => new RegExp(pattern).test(name)).map((name) => `npm run ${name}`));
}
