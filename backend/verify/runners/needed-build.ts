import path from 'node:path';
import * as z from 'zod';
import type { ChosenRunner } from './choose-runner.ts';
import { foldersAbove } from '../files/folders-above.ts';
import { expandScripts } from './package-scripts.ts';
import { ProjectFolder } from './project-folder.ts';
import { simpleCommands } from './shell-words.ts';

/* Tests may import what Git ignores and a build makes, or be built themselves. A copy of a project has no such files until they are built in it. */

export interface NeededBuild {
  /** As a person would type it. */
  readonly script: string;
  /** What tests import, or the command names, and a copy lacks, relative to the workspace. */
  readonly missing: string;
  /** The command line of the tests, with the build before them. */
  readonly command: string;
  /** What runs before the tests in all. Its failure on the base is no reason against a change. */
  readonly preparation: string;
}

const TEST_SOURCE = /(?:(?:^|\/)(?:tests?|__tests__|specs?)\/.*|[._-](?:test|spec)|(?:^|\/)tests?)\.[cm]?[jt]sx?$/;
/** Of relative paths, and of names of packages. */
const IMPORTS = /(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*['"]([\w.@][^'"\n]*)['"]/g;
const MAX_TEST_FILES = 2_000;

const ENDINGS = ['', '.js', '.ts', '.mjs', '.cjs', '.tsx', '.jsx', '.mts', '.cts', '.json', '.node', '.vue', '.svelte'];
const BUILT_FOLDER = /(?:^|\/)(?:dist|lib|build|out|output|es|esm|cjs|umd|pkg|generated)(?:\/|$)/;

/** Scripts that build, the likeliest first. `prepare` often sets up Git hooks instead. */
const BUILD_SCRIPTS = ['build', 'compile', 'bundle', 'dist', 'prepare', 'prepack', 'prepublishOnly'];
const NO_BUILD = /^(?:husky|lefthook|simple-git-hooks|is-ci|git )/;

const manifestSchema = z.looseObject({
  name: z.string().catch('').default(''),
  scripts: z.record(z.string(), z.string()).catch({}).default({}),
});
type Manifest = z.infer<typeof manifestSchema>;

const buildScripts = ({ scripts }: Manifest): readonly string[] => BUILD_SCRIPTS.filter((name) => scripts[name] !== undefined && !NO_BUILD.test(scripts[name]));

/**
 * The build that the tests of a JavaScript project need: they import, or the command names, a file that is not among `files` (relative to
 * `folder`, absolute) and that looks like what a build makes, and the package has a script that builds. Undefined if there is none. Reads files only.
 */
export async function neededBuild({ runner, command, preparation = '' }: ChosenRunner, folder: string, files: ProjectTexts): Promise<NeededBuild | undefined> {
  if (!runner.manifests.includes('package.json')) return undefined;
  const [first] = simpleCommands(command);
  const inside = first?.words[0]?.text === 'cd' ? path.posix.join(first.words[1]?.text ?? '', '.') : '';
  const project = inside === '.' || inside.startsWith('..') || path.isAbsolute(inside) ? '' : inside;
  const manifest = await manifestOf(folder, path.posix.join(project, 'package.json'));
  if (manifest === undefined) return undefined;
  const tests = programLines(command);
  const builds = await Promise.all(buildScripts(manifest).map(async (name) => ({ script: name, build: await expandScripts(`npm run ${name}`, path.join(folder, project)) })));
  // What is called a build may run the tests, too.
  const { script, build } = builds.find((one) => !programLines(one.build).some((line) => tests.includes(line))) ?? {};
  if (build === undefined || `${command}\n${preparation}`.includes(build)) return undefined;
  const missing = (preparation === '' ? missingArgument(command, project, files) : undefined)
    ?? missingImport({ files, project, manifest, conditions: conditionsIn(command), followsNames: !['vitest', 'jest'].includes(runner.name) });
  if (missing === undefined) return undefined;
  const where = project === '' ? '' : `cd ${project} && `;
  const ending = command.endsWith('${conductor_failed:-0})') ? '' : ' && (exit ${conductor_failed:-0})';
  return {
    script: `${where}npm run ${script}`, missing, command: `(${where}${build}) || conductor_failed=$?; ${command}${ending}`,
    preparation: `(${where}${build})${preparation === '' ? '' : ` && ${preparation}`}`,
  };
}

const programLines = (line: string): readonly string[] => simpleCommands(line).map(({ words }) => words.map(({ text }) => text).join(' ')).filter((text) => !text.startsWith('cd '));

/** What a package of JavaScript publishes that Git has although a build makes it of other files, such as this one. Undefined if there is no such thing. */
export function builtFrom(file: string, { paths, text }: ProjectTexts): { readonly entry: string; readonly script: string } | undefined {
  const manifestOf = (folder: string): Manifest | undefined => manifestIn(text(path.posix.join(folder, 'package.json')));
  const project = foldersAbove(file).find((folder) => manifestOf(folder) !== undefined);
  const manifest = project === undefined ? undefined : manifestOf(project);
  if (project === undefined || manifest === undefined) return undefined;
  const [script] = buildScripts(manifest);
  const published = stringsIn([manifest.main, manifest.module, manifest.exports, manifest.bin]).map((one) => path.posix.join(project, one));
  const entry = published.find((one) => paths.has(one) && one !== file && BUILT_FOLDER.test(one));
  return script === undefined || entry === undefined ? undefined : { entry, script: `${project === '.' ? '' : `cd ${project} && `}npm run ${script}` };
}

/** Relative paths with forward slashes; undefined for what is no text. */
interface ProjectTexts {
  readonly paths: ReadonlySet<string>;
  text(path: string): string | undefined;
}

interface Project {
  readonly files: ProjectTexts;
  readonly project: string;
  readonly manifest: Manifest;
  /** Names that Node is told with `--conditions`. */
  readonly conditions: readonly string[];
  /** Whether the package's own name in an import means its built files. Some runners are told otherwise. */
  readonly followsNames: boolean;
}

function missingImport({ files, project, manifest, conditions, followsNames }: Project): string | undefined {
  const { paths } = files;
  const published = new Set(stringsIn([manifest.main, manifest.module, manifest.exports, manifest.bin]).map((text) => path.posix.join(project, text)));
  const isThere = (target: string): boolean =>
    ENDINGS.some((ending) => paths.has(target + ending) || paths.has(`${target}/index${ending}`))
    || paths.has(`${target}/package.json`) || paths.has(target.replace(/\.([cm]?)js(x?)$/, '.$1ts$2'));
  const main = path.posix.join(project, typeof manifest.main === 'string' ? manifest.main : 'index.js');
  const named = entryUnder(conditions, manifest.exports);
  let seen = 0;
  for (const file of paths) {
    if (!TEST_SOURCE.test(file) || (project !== '' && !file.startsWith(`${project}/`)) || (seen += 1) > MAX_TEST_FILES) continue;
    const text = files.text(file) ?? '';
    for (const [, specifier = ''] of text.matchAll(IMPORTS)) {
      const isOwnName = manifest.name !== '' && specifier === manifest.name;
      if (!specifier.startsWith('.') && !(isOwnName && followsNames)) continue;
      if (isOwnName && named !== undefined && isThere(path.posix.join(project, named))) continue;
      const target = isOwnName ? project || '.' : path.posix.join(path.posix.dirname(file), specifier);
      // The package itself stands for its main file.
      const wanted = path.posix.relative(project, target) === '' ? main : target.replace(/\/$/, '');
      if (wanted.startsWith('..') || isThere(wanted) || TEST_SOURCE.test(`${wanted}.js`)) continue;
      const isBuilt = published.has(wanted) || wanted === main || isInBuiltFolder(wanted, project, paths);
      if (isBuilt) return wanted;
    }
  }
  return undefined;
}

/** The tests may themselves be built, as in `mocha out/spec`. What a package or an option brings is not theirs. */
function missingArgument(command: string, project: string, { paths }: ProjectTexts): string | undefined {
  const words = simpleCommands(command).flatMap(({ words: [, ...rest] }) => rest.map(({ text }) => text));
  const named = words.filter((word) => word.includes('/') && !/^-|^\/|\$|node_modules/.test(word)).map((word) => path.posix.join(project, word));
  return named.find((wanted) => !wanted.startsWith('..') && isInBuiltFolder(wanted, project, paths));
}

const conditionsIn = (command: string): readonly string[] => [...command.matchAll(/\s(?:--conditions|-C)[=\s]\s*([\w-]+)/g)].map(([, name = '']) => name);

/** What the package's own name stands for where Node is told one of these conditions: often its sources. */
function entryUnder(conditions: readonly string[], exports: unknown): string | undefined {
  if (typeof exports !== 'object' || exports === null) return undefined;
  const entry = Object.entries(exports).find(([key]) => key === '.' || conditions.includes(key))?.[1] as unknown;
  return typeof entry === 'string' && !('.' in exports) ? entry : entryUnder(conditions, entry);
}

/** Whether a file lies in a folder that has the name of one that is built, and that holds nothing else. */
function isInBuiltFolder(wanted: string, project: string, paths: ReadonlySet<string>): boolean {
  const built = BUILT_FOLDER.exec(path.posix.relative(project, wanted));
  if (!built) return false;
  const folder = path.posix.join(project, built.input.slice(0, built.index + built[0].length), '/');
  return ![...paths].some((file) => file.startsWith(folder));
}

const manifestOf = async (folder: string, file: string): Promise<Manifest | undefined> => manifestIn(await new ProjectFolder(folder).text(file));

function manifestIn(text: string | undefined): Manifest | undefined {
  try {
    return text === undefined ? undefined : manifestSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The texts in a value of JSON. */
function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
