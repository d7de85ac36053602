import { existsSync } from 'node:fs';
import path from 'node:path';
import { listed } from '../../common/listed.ts';
import type { SnapshotFiles } from '../copies/copy-pool.ts';
import { packageIn } from '../runners/project-folder.ts';
import type { TestReport } from '../runners/test-report.ts';

/* A project that is not installed, or not all of it: what its tests lack, and how a person gets it. No change of the code brings it. */

/** Python's words for a module, and for the metadata of a distribution, such as its version. */
const NO_MODULE = /\b(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?/g;
const NO_METADATA = /\bPackageNotFoundError: (?:No package metadata was found for )?([\w.-]+)/g;

/** Go's words for a module that go.mod names and the module cache lacks: the sandbox lets it download and write nothing. */
const NO_GO_MODULE = /\/pkg\/mod\/\S*: read-only file system|module lookup disabled by GOPROXY=off|dial tcp: lookup \S+|: cannot find module providing package \S+: .*lookup disabled/;
const NO_GO_SUM = /missing go\.sum entry/;

/** Ruby's words for a file of a gem, and Bundler's for a gem. */
const NO_GEM = /\bLoadError: cannot load such file -- ([\w./-]+)|Could not find (?:gem '([\w-]+)|([\w-]+?)-\d[\w.]*[\w, .-]* in (?:locally|any))|bundler: command not found: ([\w-]+)/;

/** Bundler's words for a Ruby that a gem cannot run in, and for a gem from a Git repository that it has not fetched. */
const OTHER_RUBY = /`Ruby\S* \(([^)`]+)\)[^`]*` required by `([\w-]+) \(/;
const NO_GIT_GEM = /\bThe git source \S+/;

/** A shell's and Node's words for a program and a package that are nowhere. */
const NO_PROGRAM = /(?:^|: )([\w.@-]{1,60}): (?:command )?not found\b/m;
const NO_PACKAGE = /Cannot find (?:module|package) '(@[\w.-]+\/[\w.-]+|[\w.-]+)/;

/** The words of PHP, PHPUnit and a shell where Composer has not run. */
const NO_COMPOSER = /vendor\/autoload\.php|\bvendor\/bin\/[\w.-]+: (?:command )?not found/;
const COMPOSER = 'The packages of this project are not installed: run "composer install".';

/** The files that package managers keep, and what each is told to install by. */
const LOCK_FILES = { 'pnpm-lock.yaml': 'pnpm install', 'yarn.lock': 'yarn install', 'bun.lock': 'bun install', 'bun.lockb': 'bun install', 'package-lock.json': 'npm ci', 'npm-shrinkwrap.json': 'npm ci' };

/** Files in which a Python project says what it needs. */
const ASKS = /(?:^|\/)(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|Pipfile|environment[\w.-]*\.ya?ml|[\w.-]*requirements[\w.-]*\.(?:txt|in)|requirements\/[\w.-]+\.(?:txt|in))$/;

type Files = Pick<SnapshotFiles, 'paths' | 'text'>;

/** Where packages of Node are: in a folder that Node looks into, in archives that Yarn's Plug'n'Play has Node read, which tests in a copy cannot, or nowhere. */
export type PackagePlace = 'node_modules' | 'archives' | 'nowhere';

interface Around {
  readonly packages: PackagePlace;
}

/**
 * Why the tests cannot tell anything of this project yet, and what to do: a sentence or two. Undefined if they can, or if something else is the
 * matter. A module counts as one that an install brings if the project asks for it and does not have it; where one does, others that the
 * project does not have count, too.
 */
export function notInstalled({ results }: TestReport, files: Files, { packages: place }: Around): string | undefined {
  const failing = results.filter(({ kind, status }) => kind === 'container' && status === 'failed').map(({ message = '' }) => message);
  // Without these modules, some packages of a Go project are built and others are not.
  if (failing.some((message) => NO_GO_MODULE.test(message))) return 'Modules that go.mod names are not on this machine, so that tests cannot be built: run "go mod download".';
  const noTest = failing.length > 0 && results.every(({ kind, status }) => kind === 'container' || status === 'skipped');
  if (!noTest) return undefined;
  if (failing.every((message) => NO_GO_SUM.test(message))) return 'No test could be built, since go.sum lacks modules: run "go mod tidy".';
  if (failing.every((message) => lacksComposer(message, files))) return COMPOSER;
  const submodule = emptySubmodules(files).find((folder) => failing.every((message) => message.includes(folder)));
  if (submodule !== undefined) return `No test could be loaded: the submodule ${submodule} is not checked out. Run "git submodule update --init".`;
  const packages = packagesOf(files, place);
  if (packages && failing.every((message) => packages.names.has(NO_PACKAGE.exec(message)?.[1] ?? ''))) return packages.sentence;
  const gems = failing.map((message) => gemIn(message, files));
  if (gems.every((gem) => gem !== undefined)) return `No test could be loaded: ${withoutGems(gems)}`;
  const lacking = failing.flatMap((message) => lastOf(message) ?? []);
  const asked = lacking.filter((missing) => isInstalledBySetUp(missing, files));
  // What a package that is asked for needs itself is not written down, but comes with it.
  const isLackingAlone = lacking.length === failing.length && asked.length > 0 && lacking.every((missing) => asked.includes(missing) || isOfOthers(missing, files));
  if (!isLackingAlone) return undefined;
  const names = [...new Set(asked.map(({ name }) => name))];
  return `No test could be loaded: ${listed(names)} ${names.length > 1 ? 'are' : 'is'} not installed. Install the project with what its tests need, or activate the environment that has it.`;
}

/** The same of tests that were not even started. @param said what the command printed */
export function notStarted(said: string, files: Files, { packages: place }: Around): string | undefined {
  if (lacksComposer(said, files)) return COMPOSER;
  const gem = gemIn(said, files);
  if (gem !== undefined) return withoutGems([gem]);
  if (files.paths.has('Gemfile')) {
    const [, version, of] = OTHER_RUBY.exec(said) ?? [];
    if (version !== undefined) return `${of} needs Ruby ${version}, and the Ruby of PATH is another one.`;
    if (NO_GIT_GEM.test(said)) return 'A gem that comes from a Git repository is not here: run "bundle install".';
  }
  const packages = packagesOf(files, place);
  const [program, name] = [NO_PROGRAM, NO_PACKAGE].map((words) => words.exec(said)?.[1]);
  const isLacking = (program !== undefined && packages?.programs.has(program)) || (name !== undefined && packages?.names.has(name));
  return isLacking ? packages?.sentence : undefined;
}

const lacksComposer = (said: string, { paths }: Files): boolean => NO_COMPOSER.test(said) && paths.has('composer.json') && !paths.has('vendor/autoload.php');

/** The gem that a message of Ruby or of Bundler lacks, where the project has no file of that name. */
function gemIn(message: string, { paths }: Files): string | undefined {
  const name = NO_GEM.exec(message)?.slice(1).find((found) => found !== undefined);
  return name === undefined || [...paths].some((file) => `/${file}`.endsWith(`/${name}.rb`)) ? undefined : name;
}

function withoutGems(gems: readonly string[]): string {
  const names = [...new Set(gems)];
  return `${listed(names)} ${names.length > 1 ? 'are' : 'is'} not installed. Run "bundle install", or install ${names.length > 1 ? 'them' : 'it'} with "gem install".`;
}

/** Where the packages for a folder (absolute) are: Node looks for them in the folders above, too. */
export function packagePlace(folder: string): PackagePlace {
  const has = (name: string): boolean => existsSync(path.join(folder, name));
  if (['.pnp.cjs', '.pnp.js'].some(has)) return 'archives';
  if (has('node_modules')) return 'node_modules';
  const above = path.dirname(folder);
  return above === folder ? 'nowhere' : packagePlace(above);
}

const IN_ARCHIVES = 'The packages of this project are archives of Yarn\'s Plug\'n\'Play, which tests in a copy of the project cannot read: write "nodeLinker: node-modules" into .yarnrc.yml and run "yarn install".';

interface Packages {
  readonly names: ReadonlySet<string>;
  /** The words of the scripts, with programs of packages among them. */
  readonly programs: ReadonlySet<string>;
  readonly sentence: string;
}

/** The packages that a JavaScript project asks for, and how a person gets them. Undefined if it asks for none, or if they are where Node looks. */
function packagesOf({ paths, text }: Files, place: PackagePlace): Packages | undefined {
  if (place === 'node_modules') return undefined;
  const asked = packageIn(text('package.json'));
  const names = new Set(Object.keys({ ...asked?.dependencies, ...asked?.devDependencies }));
  if (names.size === 0) return undefined;
  const programs = new Set([...names, ...Object.values(asked?.scripts ?? {}).flatMap((script) => script.split(/[\s;&|()]+/))]);
  const [, install = 'npm install'] = Object.entries(LOCK_FILES).find(([file]) => paths.has(file)) ?? [];
  return { names, programs, sentence: place === 'archives' ? IN_ARCHIVES : `The packages of this project are not installed: run "${install}".` };
}

interface Missing {
  readonly name: string;
  /** The metadata of an installed distribution, not a module. */
  readonly isMetadata: boolean;
}

/** What the last error of a message could not find. */
function lastOf(message: string): Missing | undefined {
  const found = [NO_MODULE, NO_METADATA].flatMap((words) => [...message.matchAll(words)].map((match) => ({ match, isMetadata: words === NO_METADATA })));
  const last = found.toSorted((a, b) => a.match.index - b.match.index).at(-1);
  return last && { name: last.match[1]?.replace(/\.$/, '') ?? '', isMetadata: last.isMetadata };
}

/** Names of modules differ from those of distributions in case, dashes and affixes: `yaml` of PyYAML, `dateutil` of python-dateutil. */
const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_.]/g, '');

function isInstalledBySetUp({ name, isMetadata }: Missing, files: Files): boolean {
  if (!isMetadata && isGenerated(name, files)) return true;
  if (!isOfOthers({ name, isMetadata }, files)) return false;
  const top = isMetadata ? name : topOf(name);
  const { paths, text } = files;
  return [...paths].some((file) => ASKS.test(file) && plain(text(file) ?? '').includes(plain(top)));
}

const topOf = (module: string): string => module.split('.', 1)[0] ?? '';

/** Whether no file of the project is called so. */
function isOfOthers({ name, isMetadata }: Missing, { paths }: Files): boolean {
  const top = topOf(name);
  return isMetadata || ![...paths].some((file) => `/${file}`.includes(`/${top}/`) || `/${file}`.endsWith(`/${top}.py`));
}

/** Folders of submodules that hold nothing. */
function emptySubmodules({ paths, text }: Files): readonly string[] {
  const folders = [...(text('.gitmodules') ?? '').matchAll(/^\s*path\s*=\s*(\S.*?)\/?\s*$/gm)].map(([, folder = '']) => folder);
  return folders.filter((folder) => folder !== '' && ![...paths].some((file) => file.startsWith(`${folder}/`)));
}

/** A module of the project's own that Git ignores, since an install writes it: `_version.py`. */
function isGenerated(name: string, { paths, text }: Files): boolean {
  const [file] = name.split('.').slice(-1);
  const isIgnored = (text('.gitignore') ?? '').split('\n').some((line) => line.trim().endsWith(`${file}.py`));
  return isIgnored && ![...paths].some((other) => other.endsWith(`/${file}.py`));
}

/** What to do if the end of a command's output says that something is not installed. */
const REMEDIES: readonly (readonly [said: RegExp, remedy: (found: RegExpExecArray) => string])[] = [
  [/(?:^|: )([\w.@-]{1,60}): (?:command )?not found$/, ([, name]) => `Install ${name} and what the project needs, or name another test command.`],
  [/Missing script: |Couldn't find a script named |Script not found "|^error Command "/, () => 'Name a script that package.json has, or another test command.'],
  [/: No module named '?(pytest|nose2?|coverage|tox|nox)'?$/, ([, name]) => `Install ${name} and what the project needs there, or activate the environment that has it.`],
  [/\berror: unrecognized arguments: (--?[\w-]+)/, ([, option]) => `A plugin that takes ${option} is not installed: install what the project's tests need, or activate the environment that has it.`],
  [/you're using offline mode \(--offline\)|--offline was specified/, () => `${NO_NETWORK} run "cargo fetch" first.`],
];

/** The beginning of what is said where a tool would download something. */
export const NO_NETWORK = 'Tests have no network:';

/** The words of Maven and Gradle, and ours for their wrappers, for what is not on this machine. They stand far from the end, and before other errors. */
const NOT_DOWNLOADED = [
  [/^mvnw: (\S+) is not downloaded$/m, wrapperRemedy('./mvnw')],
  [/^gradlew: (\S+) is not downloaded$/m, wrapperRemedy('./gradlew')],
  [/in offline mode and the artifact ([\w.:-]+) has not been downloaded/, 'run the command once without Conductor, or name one for a module that needs less, such as "mvn test -pl MODULE -am"'],
  [/No cached version of ([\w.:-]+) available for offline mode/, 'run the command once without Conductor, or name one for a project that needs less, such as "gradle :PROJECT:test"'],
] as const;

function wrapperRemedy(wrapper: string): string {
  return `run "${wrapper} --version" once without Conductor, or name a command that takes an installed one`;
}

/** What a build tool was not able to download, and what to do, from all that it printed. Empty if there is none. */
export function notDownloaded(output: string): string {
  for (const [said, remedy] of NOT_DOWNLOADED) {
    const [, name] = said.exec(output) ?? [];
    if (name !== undefined) return ` ${NO_NETWORK} ${name} is not on this machine. To get it, ${remedy}.`;
  }
  return '';
}

export function remedyFor(output: string): string {
  for (const [said, remedy] of REMEDIES) {
    const found = said.exec(output);
    if (found) return `${/[.!]$/.test(output) ? '' : '.'} ${remedy(found)}`;
  }
  return '';
}
