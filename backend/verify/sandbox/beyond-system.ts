import { existsSync, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Folders at the root that hold the system: programs, libraries, their settings, and what the kernel shows. */
const SYSTEM = new Set([
  ...['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'usr', 'etc', 'opt', 'dev', 'proc', 'sys', 'run', 'tmp', 'var'],
  // NixOS, Guix and Snap.
  ...['nix', 'gnu', 'snap'],
]);

/** What programs read in /var. */
export const READABLE_IN_VAR = ['/var/lib/ca-certificates', '/var/cache/fontconfig', '/var/lib/alternatives', '/var/lib/flatpak', '/var/lib/snapd/snap'];

/** Everything that is no part of the system, such as /srv, /home, /mnt, /data and what services keep in /var: hidden unless it is named. */
export function foldersBeyondSystem(root = '/'): readonly string[] {
  const entries = readdirSync(root).filter((name) => !SYSTEM.has(name)).map((name) => path.join(root, name));
  const inVar = existsSync(path.join(root, 'var')) ? readdirSync(path.join(root, 'var')).filter((name) => name !== 'tmp').map((name) => path.join(root, 'var', name)) : [];
  return [...entries, ...inVar]
    // A link leads to a folder that is hidden itself, if it is no part of the system.
    .filter((entry) => lstatSync(entry, { throwIfNoEntry: false })?.isDirectory());
}

/** In /etc, what only some users may read, for root, whom permissions do not hold back. */
export function closedSettings(root = '/etc'): readonly string[] {
  return readdirSync(root).flatMap((name) => {
    const entry = path.join(root, name);
    const found = lstatSync(entry, { throwIfNoEntry: false });
    if (!found || found.isSymbolicLink()) return [];
    // Of a folder that others may list and not enter, they can read nothing.
    const readable = found.isDirectory() ? 0o005 : 0o004;
    if ((found.mode & readable) !== readable) return [entry];
    return found.isDirectory() ? closedSettings(entry) : [];
  });
}
