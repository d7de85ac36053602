import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';

/** Folders under home in which version managers keep whole toolchains: the programs on PATH need all of theirs. */
const TOOLCHAIN_FOLDERS = [
  '.nvm',
  '.fnm',
  '.local/share/fnm',
  '.volta',
  '.nodenv',
  '.asdf',
  '.local/share/mise',
  '.pyenv',
  '.rustup',
  '.cargo',
  '.deno',
  '.bun',
  '.sdkman',
];

/** Where toolchains keep themselves and what projects depend on, wherever their programs on PATH lie: copies of what is published. */
const DEPENDENCY_FOLDERS = [
  '.rustup',
  'go/pkg/mod',
  '.cache/go-build',
  '.cargo/registry',
  '.cargo/git',
  '.m2/repository',
  '.m2/wrapper',
  '.gradle/caches/modules-2',
  '.gradle/wrapper/dists',
  '.local/share/uv/python',
];

/** Ours: where go has the user's compiled packages, which cannot be its cache here because it writes to that. */
export const GO_BUILD_CACHE = 'CONDUCTOR_GO_BUILD_CACHE';

/** What tells a toolchain where its folder is, since its home is another one inside the sandbox. */
const FOLDER_VARIABLES: Readonly<Record<string, string>> = {
  RUSTUP_HOME: '.rustup',
  CARGO_HOME: '.cargo',
  [GO_BUILD_CACHE]: '.cache/go-build',
  GOMODCACHE: 'go/pkg/mod',
  MAVEN_USER_HOME: '.m2',
  PYENV_ROOT: '.pyenv',
  GRADLE_RO_DEP_CACHE: '.gradle/caches',
};

/** What lies inside those but is a secret. */
const TOOLCHAIN_SECRETS = ['.cargo/credentials', '.cargo/credentials.toml'];

/** Folders with a `bin` beside which people keep other things than the toolchain. */
const NO_PREFIX = new Set(['', '.local']);

export interface ReadableToolchains {
  /** PATH as the command should have it: without links, which may lead through folders that are hidden. */
  readonly searchPath: string;
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
  /** Variables for the programs on PATH. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * What the sandbox must leave readable of the home folder and of other hidden folders for the programs on PATH to work, although
 * everything else in them is hidden: the toolchain folders above that are on PATH, `<prefix>` of `<prefix>/bin`, or else the folder on
 * PATH alone; and what projects depend on.
 */
export async function readableToolchains(
  searchPath: string,
  homeFolder: string,
  hiddenFolders: readonly string[] = [],
): Promise<ReadableToolchains> {
  const home = await realpath(homeFolder).catch(() => homeFolder);
  const allowed = new Set<string>();
  const entries = new Set<string>();
  for (const entry of searchPath.split(path.delimiter)) {
    if (!path.isAbsolute(entry)) continue;
    const found = await realpath(entry).catch(() => undefined);
    entries.add(found ?? entry);
    for (const folder of [entry, found]) {
      if (folder === undefined) continue;
      const inHome = relativeInside(home, folder);
      if (inHome !== undefined) allowed.add(path.join(home, toolchainOf(inHome)));
      else if (hiddenFolders.some((hidden) => relativeInside(hidden, folder) !== undefined)) allowed.add(folder);
    }
  }
  for (const folder of DEPENDENCY_FOLDERS) if (existsSync(path.join(home, folder))) allowed.add(path.join(home, folder));
  const environment: Record<string, string> = {};
  for (const [name, folder] of Object.entries(FOLDER_VARIABLES))
    if (existsSync(path.join(home, folder))) environment[name] = path.join(home, folder);
  return {
    searchPath: [...entries].join(path.delimiter),
    allowed: [...allowed],
    environment,
    denied: TOOLCHAIN_SECRETS.map((secret) => path.join(home, secret)),
  };
}

/** The folder of the toolchain, relative to home, whose programs lie in `relative`. */
function toolchainOf(relative: string): string {
  const known = TOOLCHAIN_FOLDERS.find((toolchain) => relative === toolchain || relative.startsWith(`${toolchain}/`));
  if (known !== undefined) return known;
  const prefix = path.dirname(relative) === '.' ? '' : path.dirname(relative);
  return path.basename(relative) === 'bin' && !NO_PREFIX.has(prefix) ? prefix : relative;
}

/** The path from `folder` to what lies inside it, or undefined for anything else and for the folder itself. */
function relativeInside(folder: string, entry: string): string | undefined {
  const relative = path.relative(folder, entry);
  return relative === '' || relative.startsWith('..') || path.isAbsolute(relative) ? undefined : relative;
}
