import { PACKAGE_MANAGERS } from './launched-script.ts';
import type { SimpleCommand } from './shell-words.ts';

export interface ScriptUse {
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

/** Options that change what a package manager prints, and not what it runs. */
const QUIET = new Set(['-s', '--silent', '-q', '--quiet', '--if-present', '--reporter-hide-prefix', '--no-progress']);

/** What a call of a package manager, or `node --run`, says which script it runs. Undefined for any other command. */
export function scriptUse({ words }: SimpleCommand): ScriptUse | undefined {
  const texts = words.map(({ text }) => text);
  const [manager = ''] = texts;
  if (manager === 'node' && texts[1] === '--run' && texts[2] !== undefined) return { name: texts[2], extra: extraOf(words, texts[3] === '--' ? 4 : 3) };
  if (!PACKAGE_MANAGERS.has(manager)) return undefined;
  let next = 1;
  const skipQuiet = (): void => {
    while (QUIET.has(texts[next] ?? '')) next += 1;
  };
  skipQuiet();
  const verb = texts[next] ?? '';
  next += 1;
  let name: string | undefined;
  let isShort = false;
  if (['t', 'tst'].includes(verb) && manager === 'npm') name = 'test';
  else if (verb === 'test' && manager !== 'bun') name = 'test';
  else if (verb === 'run' || verb === 'run-script') {
    // npm's own options before the script's name do not change the script, except the workspace options.
    skipQuiet();
    name = texts[next];
    next += 1;
  } else if (['pnpm', 'yarn'].includes(manager) && /^[\w@]/.test(verb) && !OWN_VERBS.has(verb)) {
    isShort = true;
    if (verb === 'exec') next += 1;
    name = texts[next - 1];
  }
  if (name === undefined || name.startsWith('-')) return undefined;
  const program = isShort ? words[next - 1] : undefined;
  if (texts[next] === '--') next += 1;
  else if (manager === 'npm') {
    // Without `--`, npm takes options for itself, such as the workspace.
    if (texts.slice(next).every((text) => QUIET.has(text))) next = texts.length;
    else if (texts.slice(next).some((text) => text.startsWith('-'))) return undefined;
  }
  return { name, extra: extraOf(words, next), ...(program && { program }) };
}

function extraOf(words: SimpleCommand['words'], next: number): ScriptUse['extra'] {
  const [from, to] = [words[next], words.at(-1)];
  return from && to && { start: from.start, end: to.end };
}
