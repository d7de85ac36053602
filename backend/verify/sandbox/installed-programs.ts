import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/*
 * Where version managers and installers put programs. A shell's profile adds these folders to PATH; an editor that the desktop has started
 * often has not read that profile.
 */

const SYSTEM_FOLDERS = ['/usr/local/bin', '/usr/local/go/bin', '/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin', '/snap/bin'];

/** Relative to home. Windows has no folders of the system like those above: every user may make `C:\usr\local\bin`. */
const HOME_FOLDERS_ON_WINDOWS = [
  'AppData/Roaming/npm', 'AppData/Local/Volta/bin', 'AppData/Local/pnpm', 'scoop/shims', '.bun/bin', '.deno/bin', '.pyenv/pyenv-win/shims', '.cargo/bin', 'go/bin',
];

/** Relative to home. */
const HOME_FOLDERS = [
  '.volta/bin', '.local/share/fnm/aliases/default/bin', '.fnm/aliases/default/bin', '.nodenv/shims', '.bun/bin', '.deno/bin', '.local/share/pnpm', '.yarn/bin',
  '.pyenv/shims', 'miniforge3/bin', 'miniconda3/bin', 'anaconda3/bin', '.rbenv/shims',
  '.cargo/bin', 'go/bin', '.asdf/shims', '.local/share/mise/shims', '.local/bin',
];

/**
 * PATH with the folders of installed programs after it, where they exist: they are searched for what is not on PATH. @param home absolute
 */
export function withInstalledPrograms(searchPath: string, home: string, platform: NodeJS.Platform = process.platform): string {
  const known = searchPath.split(path.delimiter).filter((folder) => folder !== '');
  const folders = platform === 'win32' ? HOME_FOLDERS_ON_WINDOWS.map((folder) => path.join(home, folder)) : [
    ...nvmFolders(path.join(home, '.nvm')), ...HOME_FOLDERS.map((folder) => path.join(home, folder)), ...sdkmanFolders(path.join(home, '.sdkman')), ...SYSTEM_FOLDERS,
  ];
  return [...known, ...folders.filter((folder) => !known.includes(folder) && existsSync(folder))].join(path.delimiter);
}

/** The folder of nvm's default version; the newest installed one if the default is none of them (https://github.com/nvm-sh/nvm). */
function nvmFolders(nvm: string): string[] {
  const versions = path.join(nvm, 'versions', 'node');
  const installed = namesIn(versions).filter((name) => /^v\d+\.\d+\.\d+$/.test(name)).sort(byVersion);
  let wanted = '';
  try {
    wanted = readFileSync(path.join(nvm, 'alias', 'default'), 'utf8').trim().replace(/^v?/, 'v');
  } catch {
    // Without a default the newest is taken.
  }
  const chosen = installed.findLast((name) => name === wanted || name.startsWith(`${wanted}.`)) ?? installed.at(-1);
  return chosen === undefined ? [] : [path.join(versions, chosen, 'bin')];
}

function sdkmanFolders(sdkman: string): string[] {
  const candidates = path.join(sdkman, 'candidates');
  return namesIn(candidates).map((name) => path.join(candidates, name, 'current', 'bin'));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
