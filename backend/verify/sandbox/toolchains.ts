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

/** Folders with a `bin` beside which people keep other things than the toolchain; the first is home. */
const NO_PREFIX = new Set(['.', '.local']);

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
      const place = folder && [home, ...hiddenFolders].find((hidden) => isInside(hidden, folder));
      if (!folder || !place) continue;
      // Of all homes together, it is the one that counts.
      const base = place === '/home' ? path.join(place, path.relative(place, folder).split(path.sep)[0] ?? '') : place;
      allowed.add(isInside(base, folder) ? path.join(base, toolchainOf(path.relative(base, folder))) : folder);
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

/** The folder of the toolchain whose programs lie in `folder`; both relative to what is hidden, such as home. */
function toolchainOf(folder: string): string {
  const known = TOOLCHAIN_FOLDERS.find((toolchain) => folder === toolchain || folder.startsWith(`${toolchain}/`));
  const prefix = path.dirname(folder);
  return known ?? (path.basename(folder) === 'bin' && !NO_PREFIX.has(prefix) ? prefix : folder);
}

function isInside(folder: string, entry: string): boolean {
  const relative = path.relative(folder, entry);
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
}
