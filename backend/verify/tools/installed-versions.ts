import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** A version of a tool that is on this machine. */
export interface InstalledVersion {
  /** The three numbers. Undefined if the name of its folder does not say. */
  readonly version: string | undefined;
  /** What its manager calls it. */
  readonly name: string;
  /** The whole installation, absolute. */
  readonly folder: string;
}

/** A folder in which a version manager keeps the versions of a tool, each in a folder that is named after it. */
interface Place {
  /** Absolute or relative to home. */
  readonly folder: string;
  /** The installation below the folder of the version. */
  readonly inside?: string;
  /** Which names are versions of the tool; all by default. */
  readonly named?: RegExp;
}

const HOMEBREWS = ['/opt/homebrew', '/usr/local', '/home/linuxbrew/.linuxbrew'];

const NODE: readonly Place[] = [
  { folder: '.nvm/versions/node' },
  ...['.local/share/fnm', '.fnm', 'Library/Application Support/fnm'].map((fnm) => ({ folder: `${fnm}/node-versions`, inside: 'installation' })),
  { folder: '.volta/tools/image/node' },
  { folder: '.asdf/installs/nodejs' },
  ...['node', 'nodejs'].map((name) => ({ folder: `.local/share/mise/installs/${name}` })),
  { folder: '.nodenv/versions' },
  ...['/usr/local', 'n', '.n', '.local'].map((prefix) => ({ folder: `${prefix}/n/versions/node` })),
];

const PYTHON: readonly Place[] = [
  { folder: '.pyenv/versions' },
  { folder: '.local/share/mise/installs/python' },
  { folder: '.asdf/installs/python' },
  { folder: '.local/share/uv/python', named: /^cpython-/ },
];

const GO: readonly Place[] = [
  { folder: 'go/pkg/mod/golang.org', named: /^toolchain@/ },
  { folder: 'sdk', named: /^go\d/ },
  { folder: '.asdf/installs/golang', inside: 'go' },
  ...['go', 'golang'].map((name) => ({ folder: `.local/share/mise/installs/${name}` })),
  { folder: '.gvm/gos' },
];

export const installedNodes = async (home: string): Promise<readonly InstalledVersion[]> =>
  versionsIn([...NODE, ...(await formulas(/^node(?:@\d+)?$/))], 'node', home);

export const installedPythons = (home: string): Promise<readonly InstalledVersion[]> => versionsIn(PYTHON, 'python', home);

export const installedGos = (home: string): Promise<readonly InstalledVersion[]> => versionsIn(GO, 'go', home);

/** Those of rustup: `1.80.0-x86_64-unknown-linux-gnu`, `stable-…`. */
export const installedRusts = (home: string): Promise<readonly InstalledVersion[]> => versionsIn([{ folder: '.rustup/toolchains' }], 'cargo', home);

/** Homebrew keeps the versions of each formula in a folder of their own. */
async function formulas(named: RegExp): Promise<readonly Place[]> {
  const cellars = HOMEBREWS.map((prefix) => path.join(prefix, 'Cellar'));
  const found = await Promise.all(cellars.map(async (cellar) => (await namesIn(cellar)).filter((name) => named.test(name)).map((name) => path.join(cellar, name))));
  return found.flat().map((folder) => ({ folder }));
}

async function versionsIn(places: readonly Place[], program: string, home: string): Promise<readonly InstalledVersion[]> {
  const found = await Promise.all(places.map(async ({ folder, inside = '', named }) => {
    const place = path.resolve(home, folder);
    return (await namesIn(place)).filter((name) => named?.test(name) ?? true).map((name) => ({ name, version: versionIn(name), folder: path.join(place, name, inside) }));
  }));
  return found.flat().filter(({ folder }) => existsSync(path.join(folder, 'bin', program)));
}

/** `v20.18.1`, `cpython-3.12.3-linux-x86_64-gnu`, `toolchain@v0.0.1-go1.25.0.linux-amd64`. An alias that is a shorter name is none. */
function versionIn(name: string): string | undefined {
  const [, version] = /(?:^v?|^cpython-|go)(\d+\.\d+(?:\.\d+)?)(?=$|[-.]\D|-)/.exec(name) ?? [];
  if (version === undefined) return undefined;
  return version.split('.').length === 3 ? version : name.includes('go') ? `${version}.0` : undefined;
}

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);
