import { listed } from '../../common/listed.ts';
import type { SnapshotFiles } from '../copies/copy-pool.ts';
import type { TestReport } from '../runners/test-report.ts';

/* A project that is not installed, or not all of it: what its tests lack, and how a person gets it. No change of the code brings it. */

/** Python's words for a module, and for the metadata of a distribution, such as its version. */
const NO_MODULE = /\b(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?/g;
const NO_METADATA = /\bPackageNotFoundError: (?:No package metadata was found for )?([\w.-]+)/g;

/** Go's words for a module that go.mod names and the module cache lacks: the sandbox lets it download and write nothing. */
const NO_GO_MODULE = /\/pkg\/mod\/\S*: read-only file system|module lookup disabled by GOPROXY=off|dial tcp: lookup \S+|: cannot find module providing package \S+: .*lookup disabled/;
const NO_GO_SUM = /missing go\.sum entry/;

/** Files in which a Python project says what it needs. */
const ASKS = /(?:^|\/)(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|noxfile\.py|Pipfile|environment[\w.-]*\.ya?ml|[\w.-]*requirements[\w.-]*\.(?:txt|in)|requirements\/[\w.-]+\.(?:txt|in))$/;

type Files = Pick<SnapshotFiles, 'paths' | 'text'>;

/**
 * Why the tests cannot tell anything of this project yet, and what to do: a sentence or two. Undefined if they can, or if something else is the
 * matter. A module counts as one that an install brings if the project asks for it and does not have it.
 */
export function notInstalled({ results }: TestReport, files: Files): string | undefined {
  const failing = results.filter(({ kind, status }) => kind === 'container' && status === 'failed').map(({ message = '' }) => message);
  // Without these modules, some packages of a Go project are built and others are not.
  if (failing.some((message) => NO_GO_MODULE.test(message))) return 'Modules that go.mod names are not on this machine, so that tests cannot be built: run "go mod download".';
  const noTest = failing.length > 0 && results.every(({ kind, status }) => kind === 'container' || status === 'skipped');
  if (!noTest) return undefined;
  if (failing.every((message) => NO_GO_SUM.test(message))) return 'No test could be built, since go.sum lacks modules: run "go mod tidy".';
  const submodule = emptySubmodules(files).find((folder) => failing.every((message) => message.includes(folder)));
  if (submodule !== undefined) return `No test could be loaded: the submodule ${submodule} is not checked out. Run "git submodule update --init".`;
  const lacking = failing.map((message) => lastOf(message));
  if (!lacking.every((missing) => missing !== undefined && isInstalledBySetUp(missing, files))) return undefined;
  const names = [...new Set(lacking.map((missing) => missing?.name ?? ''))];
  return `No test could be loaded: ${listed(names)} ${names.length > 1 ? 'are' : 'is'} not installed. Install the project with what its tests need, or activate the environment that has it.`;
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
  const [top = ''] = isMetadata ? [name] : name.split('.');
  const { paths, text } = files;
  if (!isMetadata && [...paths].some((file) => `/${file}`.includes(`/${top}/`) || `/${file}`.endsWith(`/${top}.py`))) return false;
  return [...paths].some((file) => ASKS.test(file) && plain(text(file) ?? '').includes(plain(top)));
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
  [/: No module named '?(pytest|nose2?|coverage|tox|nox)'?$/, ([, name]) => `Install ${name} and what the project needs there, or activate the environment that has it.`],
  [/\berror: unrecognized arguments: (--?[\w-]+)/, ([, option]) => `A plugin that takes ${option} is not installed: install what the project's tests need, or activate the environment that has it.`],
  [/you're using offline mode \(--offline\)|--offline was specified/, () => 'Tests have no network: run "cargo fetch" first.'],
];

export function remedyFor(output: string): string {
  for (const [said, remedy] of REMEDIES) {
    const found = said.exec(output);
    if (found) return `${/[.!]$/.test(output) ? '' : '.'} ${remedy(found)}`;
  }
  return '';
}
