import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { TestRunnerName } from '../../protocol/test-runners.ts';

/** Folders and files of a toolchain. All are relative to home. */
interface Toolchain {
  /** Where version managers keep whole toolchains. Readable if a program in one is on PATH: it needs all of its toolchain. */
  readonly managers?: readonly string[];
  /** The toolchain itself and copies of published packages. Always readable. */
  readonly dependencies?: readonly string[];
  /** Variables that name a folder of the toolchain, because home is another folder inside the sandbox. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Files in these folders that stay hidden. */
  readonly secrets?: readonly string[];
}

/** Our own variable: the user's cache of compiled packages. Go cannot use it as its cache, because it writes to that. */
export const GO_BUILD_CACHE = 'CONDUCTOR_GO_BUILD_CACHE';

/** Our own variable: a folder in memory that is gone after the run, or the home folder where there is none. For many small files. */
export const MEMORY = 'CONDUCTOR_MEMORY';

const NODE: Toolchain = { managers: ['.nvm', '.fnm', '.local/share/fnm', '.volta', '.nodenv', '.deno', '.bun'] };

const PYTHON: Toolchain = { managers: ['.pyenv'], dependencies: ['.local/share/uv/python'], variables: { PYENV_ROOT: '.pyenv' } };

const GO: Toolchain = {
  // The build cache is readable for commands that name its variable alone: it holds compiled tests.
  dependencies: ['go/pkg/mod'],
  variables: { [GO_BUILD_CACHE]: '.cache/go-build', GOMODCACHE: 'go/pkg/mod' },
};

const RUST: Toolchain = {
  managers: ['.rustup', '.cargo'],
  dependencies: ['.rustup', '.cargo/registry', '.cargo/git'],
  variables: { RUSTUP_HOME: '.rustup', CARGO_HOME: '.cargo' },
  secrets: ['.cargo/credentials', '.cargo/credentials.toml'],
};

const JAVA: Toolchain = {
  managers: ['.sdkman'],
  dependencies: ['.m2/repository', '.m2/wrapper', '.gradle/caches/modules-2', '.gradle/wrapper/dists'],
  variables: { MAVEN_USER_HOME: '.m2', GRADLE_RO_DEP_CACHE: '.gradle/caches' },
};

const RUBY: Toolchain = {
  managers: ['.rbenv', '.rvm', '.rubies', '.local/share/rv'],
  dependencies: ['.gem/ruby', '.local/share/gem', '.bundle/cache'],
  variables: { RBENV_ROOT: '.rbenv' },
  secrets: ['.gem/credentials', '.local/share/gem/credentials', '.bundle/config'],
};

/** Version managers of any toolchain. */
const ANY: Toolchain = { managers: ['.asdf', '.local/share/mise'] };

/** What the programs of each runner need from home. `ANY` for those of the system. */
const TOOLCHAINS: Readonly<Record<TestRunnerName, Toolchain>> = {
  'vitest': NODE,
  'jest': NODE,
  'mocha': NODE,
  'jasmine': NODE,
  'ava': NODE,
  'tape': NODE,
  'tap': NODE,
  'bun': NODE,
  'deno': NODE,
  'pytest': PYTHON,
  'unittest': PYTHON,
  'go': GO,
  'nextest': RUST,
  'cargo': RUST,
  'maven': JAVA,
  'gradle': JAVA,
  'phpunit': ANY,
  'ctest': ANY,
  'rspec': RUBY,
  'minitest': RUBY,
  'node-test': NODE,
  'custom': ANY,
  'exit-code': ANY,
};

/** A test of one runner may start the programs of another, so every run gets all of them. */
const ALL = [...new Set(Object.values(TOOLCHAINS))];
const MANAGERS = ALL.flatMap(({ managers = [] }) => managers);
const DEPENDENCIES = ALL.flatMap(({ dependencies = [] }) => dependencies);
const VARIABLES = ALL.flatMap(({ variables = {} }) => Object.entries(variables));
const SECRETS = ALL.flatMap(({ secrets = [] }) => secrets);

/** Programs that bring a toolchain of their own. */
const PROGRAMS = ['node', 'npm', 'pnpm', 'yarn', 'bun', 'deno', 'python3', 'python', 'pytest', 'go', 'cargo', 'rustc', 'java', 'mvn', 'gradle', 'cmake', 'ctest', 'ruby', 'php', 'dotnet'];

/** Folders with a `bin` that hold more than a toolchain. The first is home. */
const NO_PREFIX = new Set(['.', '.local']);

export interface ReadableToolchains {
  /** PATH for the command, without links: they may lead through hidden folders. */
  readonly searchPath: string;
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
  /** Variables for the programs on PATH. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The parts of home and of other hidden folders that must stay readable for the programs on PATH to work. For each folder on PATH: the
 * version manager's folder that it is in, or `<prefix>` of `<prefix>/bin`, or the folder alone. To these come the dependencies.
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
      // Below /home, each folder is a home of its own.
      const base = place === '/home' ? path.join(place, path.relative(place, folder).split(path.sep)[0] ?? '') : place;
      allowed.add(isInside(base, folder) ? path.join(base, toolchainOf(path.relative(base, folder))) : folder);
    }
  }
  // A program on PATH may be a link to a toolchain elsewhere.
  for (const entry of entries) {
    for (const program of PROGRAMS) {
      const linked = await realpath(path.join(entry, program)).catch(() => undefined);
      const folder = linked === undefined ? '' : path.dirname(linked);
      const place = hiddenFolders.find((hidden) => isInside(hidden, folder));
      if (place !== undefined && !isInside(home, folder) && path.basename(folder) === 'bin') allowed.add(path.join(place, toolchainOf(path.relative(place, folder))));
    }
  }
  for (const folder of DEPENDENCIES) if (existsSync(path.join(home, folder))) allowed.add(path.join(home, folder));
  const environment: Record<string, string> = {};
  for (const [name, folder] of VARIABLES)
    if (existsSync(path.join(home, folder))) environment[name] = path.join(home, folder);
  return {
    searchPath: [...entries].join(path.delimiter),
    allowed: [...allowed],
    environment,
    denied: SECRETS.map((secret) => path.join(home, secret)),
  };
}

/** The folder of the toolchain whose programs are in `folder`. Both are relative to the hidden folder, such as home. */
function toolchainOf(folder: string): string {
  const known = MANAGERS.find((toolchain) => folder === toolchain || folder.startsWith(`${toolchain}/`));
  const prefix = path.dirname(folder);
  return known ?? (path.basename(folder) === 'bin' && !NO_PREFIX.has(prefix) ? prefix : folder);
}

function isInside(folder: string, entry: string): boolean {
  const relative = path.relative(folder, entry);
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
}
