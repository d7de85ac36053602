import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface LockedPackage {
  readonly version: string;
  /** Such as "sha512-…", in base64. */
  readonly integrity: string;
}

/** A package differs from the lock file, or is not in it. */
export class FetchPackageError extends Error {
  readonly packageName: string;

  constructor(packageName: string, sentence: string) {
    super(sentence);
    this.name = 'FetchPackageError';
    this.packageName = packageName;
  }
}

/**
 * Fetches a package that npm did not install because it is for another platform. It is downloaded once, from npm's configured registry, and
 * unpacked only if it matches the lock file's hash. Nothing is installed.
 * @param root the folder with package-lock.json.
 * @returns the folder of the unpacked package, under node_modules/.cache.
 * @throws FetchPackageError
 */
export async function fetchPackage(name: string, root: string): Promise<string> {
  return await fetchVersion(name, await lockedPackage(name, root), root);
}

/** The same for a version that the lock file does not name. @throws FetchPackageError */
export async function fetchVersion(name: string, { version, integrity }: LockedPackage, root: string): Promise<string> {
  const cache = path.join(root, 'node_modules', '.cache', 'conductor-platforms');
  const folder = path.join(cache, `${name.replaceAll('/', '+')}@${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const temporary = await mkdtemp(path.join(cache, 'fetch-'));
  try {
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', temporary, `${name}@${version}`], {
      cwd: root, shell: process.platform === 'win32',
    });
    const archive = stdout.trim();
    checkIntegrity(name, await readFile(path.join(temporary, archive)), integrity);
    // Works with GNU tar and Windows' tar. The name is relative, because GNU tar takes "C:" for a host.
    await run('tar', ['-xzf', archive], { cwd: temporary });
    await rename(path.join(temporary, 'package'), folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return folder;
}

async function lockedPackage(name: string, root: string): Promise<LockedPackage> {
  const lock = await readFile(path.join(root, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, LockedPackage>> };
  const locked = packages[`node_modules/${name}`];
  if (locked) return locked;
  throw new FetchPackageError(name, `package-lock.json does not name ${name}: no VSIX can be made for its platform.`);
}

/** @throws FetchPackageError unless the archive matches the lock file. */
export function checkIntegrity(name: string, archive: Uint8Array, integrity: string): void {
  const algorithm = integrity.split('-')[0] ?? '';
  const found = `${algorithm}-${createHash(algorithm).update(archive).digest('base64')}`;
  if (found === integrity) return;
  throw new FetchPackageError(
    name, `What the registry has as ${name} is not what is named here (${integrity}): nothing of it was used.`,
  );
}
