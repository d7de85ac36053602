import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestRunnerName } from '../../protocol/test-runners.ts';
import { basePythonOf } from '../runners/base-python.ts';
import type { ProjectFolder } from '../runners/project-folder.ts';
import { askedGo, askedNode, askedPython, askedRust, type AskedVersion } from './asked-version.ts';
import { installedGos, installedNodes, installedPythons, installedRusts, type InstalledVersion } from './installed-versions.ts';

/** A program that comes in versions, of which a project may ask for one. */
export interface Tool {
  /** As people call it. */
  readonly name: string;
  /** Says the version of what PATH has. */
  readonly command: string;
  /** Where else than on PATH it was looked for. */
  readonly lookedIn: string;
  asked(folder: ProjectFolder): Promise<AskedVersion | undefined>;
  /** @param home absolute */
  installed(home: string): Promise<readonly InstalledVersion[]>;
  /** How a version is taken. By default its programs come before those of PATH. */
  use?(version: InstalledVersion): Promise<UsedVersion>;
  /** What makes the version of PATH be taken although a file asks for another one. */
  insist?(home: string): Promise<Readonly<Record<string, string>>>;
  /** Whether a version can run the tests; by default each can. */
  isUsable?(version: InstalledVersion, runner: TestRunnerName): Promise<boolean>;
}

/** All folders are absolute. */
export interface UsedVersion {
  readonly programFolders: readonly string[];
  readonly readable: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const NODE: Tool = {
  name: 'Node', command: 'node --version', lookedIn: 'nvm, fnm, volta, asdf, mise, nodenv, n and Homebrew', asked: askedNode, installed: installedNodes,
};

const PYTHON: Tool = {
  name: 'Python',
  command: 'python3 --version || python --version',
  lookedIn: 'pyenv, mise, asdf and uv',
  asked: askedPython,
  installed: installedPythons,
  // pyenv's own environments are beside its versions.
  use: async (version) => {
    const own = await ownProgramsOf(version);
    return { ...own, readable: [...own.readable, ...(await basePythonOf(version.folder))] };
  },
  // pyenv's programs read the file themselves.
  insist: async (home) => ({ PYENV_VERSION: (await readFile(path.join(home, '.pyenv/version'), 'utf8').catch(() => '')).split('\n')[0]?.trim() || 'system' }),
  // A Python of its own has nothing but its library, and PATH's may have pytest.
  isUsable: async ({ folder }, runner) => runner !== 'pytest' || (await hasPytest(folder)),
};

async function hasPytest(folder: string): Promise<boolean> {
  const names = await readdir(path.join(folder, 'lib')).catch(() => []);
  const found = await Promise.all(names.map((name) => readdir(path.join(folder, 'lib', name, 'site-packages')).catch(() => [])));
  return found.flat().includes('pytest');
}

const GO: Tool = {
  name: 'Go', command: 'GOTOOLCHAIN=local go version', lookedIn: 'Go’s own downloads, ~/sdk, asdf, mise and gvm', asked: askedGo, installed: installedGos,
};

const RUST: Tool = {
  name: 'Rust',
  command: 'rustc --version',
  lookedIn: 'rustup',
  asked: askedRust,
  installed: installedRusts,
  use: ({ name }) => Promise.resolve({ programFolders: [], readable: [], environment: { RUSTUP_TOOLCHAIN: name } }),
  // Otherwise rustup would download the one that is asked for, if only by another name.
  insist: async (home) => {
    const text = await readFile(path.join(home, '.rustup/settings.toml'), 'utf8').catch(() => '');
    const name = /^\s*default_toolchain\s*=\s*"([\w.-]+)"/m.exec(text)?.[1];
    return { ...(name !== undefined && { RUSTUP_TOOLCHAIN: name }) };
  },
};

const JAVA: Tool = {
  name: 'Java', command: 'java -version 2>&1', lookedIn: 'PATH', asked: () => Promise.resolve(undefined), installed: () => Promise.resolve([]),
};

const RUBY: Tool = {
  name: 'Ruby', command: 'ruby --version', lookedIn: 'PATH', asked: () => Promise.resolve(undefined), installed: () => Promise.resolve([]),
};

const PHP: Tool = {
  name: 'PHP', command: 'php -r "echo PHP_VERSION;"', lookedIn: 'PATH', asked: () => Promise.resolve(undefined), installed: () => Promise.resolve([]),
};

/** What the tests of a runner run with. Of a command whose runner is not known, what the project asks for. */
export function toolsOf(runner: TestRunnerName): { readonly tools: readonly Tool[]; readonly onlyAsked: boolean } {
  const tools = TOOLS[runner];
  return tools === undefined ? { tools: [NODE, PYTHON, GO, RUST], onlyAsked: true } : { tools, onlyAsked: false };
}

const TOOLS: Readonly<Record<TestRunnerName, readonly Tool[] | undefined>> = {
  'vitest': [NODE],
  'jest': [NODE],
  'mocha': [NODE],
  'jasmine': [NODE],
  'ava': [NODE],
  'tape': [NODE],
  'tap': [NODE],
  'bun': [],
  'deno': [],
  'node-test': [NODE],
  'pytest': [PYTHON],
  'unittest': [PYTHON],
  'go': [GO],
  'nextest': [RUST],
  'cargo': [RUST],
  'maven': [JAVA],
  'gradle': [JAVA],
  'phpunit': [PHP],
  'ctest': [],
  'rspec': [RUBY],
  'minitest': [RUBY],
  'custom': undefined,
  'exit-code': undefined,
};

export const ownProgramsOf = ({ folder }: Pick<InstalledVersion, 'folder'>): Promise<UsedVersion> =>
  Promise.resolve({ programFolders: [path.join(folder, 'bin')], readable: [folder], environment: {} });
