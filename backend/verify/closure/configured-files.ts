import { filesImported } from '../../common/imports/resolve-import.ts';
import { protectedReason } from '../files/protected-paths.ts';
import { simpleCommands } from '../runners/shell-words.ts';
import { scriptsInRecipes } from './recipes.ts';
import { fileNamed, folderOf, isConftest, stemOf, type ProjectImports } from './project.ts';

/** How the tests are run. */
export interface RunOfTests {
  /** With scripts of `package.json` expanded. */
  readonly command: string;
  /** Patterns of the files that configure the runner, for paths in lower case. */
  readonly configuration: readonly RegExp[];
}

/** What a runner loads by the name that stands there. */
const LOADING_KEY = new RegExp(`(?:^|[\\s{,'"])(${[
  ...['setupFiles', 'setupFilesAfterEnv', 'setupTestFrameworkScriptFile', 'globalSetup', 'globalTeardown', 'require', 'import', 'imports', 'loader', 'node-option'],
  ...['reporter', 'reporters', 'transform', 'testEnvironment', 'environment', 'runner', 'testRunner', 'pool', 'resolver', 'snapshotSerializers', 'snapshotResolver'],
  ...['snapshotEnvironment', 'preset', 'presets', 'plugins', 'testSequencer', 'sequencer', 'testResultsProcessor', 'extends', 'nodeArguments', 'file', 'dependencyExtractor', 'bootstrap', 'printerFile'],
].join('|')})['"]?\\s*[:=]\\s*`, 'gm');
const MAX_VALUE = 1_500;

/** What `configuredFiles` has for a file that the command names. */
export const TEST_COMMAND = 'the test command';

/** The files that a runner loads because its configuration or the command names them, each with the file or command that does. */
export function configuredFiles(imports: ProjectImports, { command, configuration }: RunOfTests): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const { files } = imports;
  const take = (written: string, folder: string, by: string): void => {
    const file = fileNamed(written, folder, imports);
    if (file !== undefined && !isConfiguration(file, configuration)) found.set(file, found.get(file) ?? by);
  };
  const takePlugin = (name: string, by: string): void => {
    for (const file of filesImported('plugin.py', name, imports.shape)) found.set(file, found.get(file) ?? by);
  };
  let folder = '';
  for (const { words } of simpleCommands(command)) {
    if (words[0]?.text === 'cd') folder = words[1]?.text ?? '';
    const [program, ...options] = words.map(({ text }) => text);
    for (const { script, by } of scriptsInRecipes(program ?? '', options, folder, files)) take(script, folder, by);
    for (const [index, { text }] of words.entries()) {
      const value = text.replace(/^-{1,2}[\w-]+=/, '');
      const option = words[index - 1]?.text ?? '';
      if (option === '-p' || /^-p\w/.test(text)) takePlugin(text.replace(/^-p/, ''), TEST_COMMAND);
      else if (/\.\w+$/.test(value) || /^(?:-r|--(?:require|import|loader|experimental-loader|config))$/.test(option)) take(value, folder, TEST_COMMAND);
    }
  }
  for (const file of files.paths) {
    const isPackage = /(?:^|\/)package\.json$/.test(file);
    if (!isPackage && !isConftest(file) && !isConfiguration(file, configuration)) continue;
    const text = isPackage ? runnersIn(files.text(file)) : files.text(file);
    if (text === undefined) continue;
    for (const match of text.matchAll(LOADING_KEY))
      for (const written of stringsOf(text.slice(match.index + match[0].length, match.index + match[0].length + MAX_VALUE))) take(written, folderOf(file), file);
    if (!/\.(?:py|toml|ini|cfg)$/.test(file)) continue;
    for (const [, name = ''] of text.matchAll(/(?:^|[\s"'])-p[ =]?["']?([A-Za-z_][\w.]{1,100})/g)) takePlugin(name, file);
    for (const [, names = ''] of text.matchAll(/\bpytest_plugins\s*(?::[^=\n]{0,60})?=\s*([[(]?[^\])\n]{1,600})/g))
      for (const written of stringsOf(names)) takePlugin(written, file);
  }
  return found;
}

/** Whether a file configures the runner, as the list of protected files says. */
export const isConfiguration = (file: string, configuration: readonly RegExp[]): boolean =>
  protectedReason(file, configuration) === 'It configures the test runner.';

/** The strings of a value: one, or those up to the end of its list or object. */
function stringsOf(value: string): readonly string[] {
  const strings: string[] = [];
  let depth = 0;
  for (const [part] of value.matchAll(/["'`][^"'`\n]{0,300}["'`]|[[\]{}()\n,]/g)) {
    if (/^["'`]/.test(part)) strings.push(part.slice(1, -1));
    else if (/[[{(]/.test(part)) depth += 1;
    else if (/[\]})]/.test(part)) depth -= 1;
    if (depth < 0 || (depth === 0 && part !== '\n' && (strings.length > 0 || part === ','))) break;
  }
  if (strings.length > 0) return strings;
  // A value of YAML or of an INI file stands there as it is, or as a list of lines.
  const [list = ''] = /^(?:\s*- *[\w./@-]+[ \t]*\n?)+/.exec(value) ?? [];
  return list === '' ? (/^[\w./@-]+/.exec(value)?.slice() ?? []) : list.split('\n').map((line) => line.replace(/^\s*- */, '').trim()).filter((line) => line !== '');
}

/** The parts of a package.json that configure runners. */
function runnersIn(text: string | undefined): string | undefined {
  try {
    const { jest, mocha, ava, tap, vitest, babel, c8, nyc } = JSON.parse(text ?? '{}') as Readonly<Record<string, unknown>>;
    return JSON.stringify({ jest, mocha, ava, tap, vitest, babel, c8, nyc });
  } catch {
    return undefined;
  }
}

/** Files that make things of the project and are no part of it. */
export const isTooling = (file: string): boolean => /\.(?:config|conf)$/.test(stemOf(file)) || /(?:^|\/)(?:gulpfile|gruntfile|rakefile|setup\.py)/i.test(file);
