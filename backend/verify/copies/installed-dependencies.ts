import path from 'node:path';
import type { CopyEntry, CopyTree } from '../files/copy-tree.ts';
import { entriesOf, isInside, lookAt, PlainFolders, realPathOf } from '../files/plain-folders.ts';
import type { Slices } from '../../common/slices.ts';
import { composerVersion, isComposerFolder, shareComposerPackages, VENDOR } from './composer-packages.ts';

const PACKAGES = 'node_modules';
/** Usual folders of Python's virtual environments. Each contains `ENVIRONMENT_MARK`. */
const ENVIRONMENTS = ['.venv', 'venv', 'env'];
const ENVIRONMENT_MARK = 'pyvenv.cfg';

/** Package managers update one of these files on every install. */
const PACKAGE_RECORDS = ['.package-lock.json', '.modules.yaml', '.yarn-integrity', '.yarn-state.yml'];

/**
 * Tools write to these folders while tests run, but shared folders are read-only. What tools have kept there of the user's own runs may be tests as
 * they were, by which code could recognise the negative control: it is hidden.
 */
const CACHES = new Set(['.cache', '.vite', '.vite-temp', '.vitest']);

/** Whether a folder is a Python environment; `absolute` ends with `name`. */
export function isEnvironment(absolute: string, name: string): boolean {
  return ENVIRONMENTS.includes(name) && lookAt(`${absolute}/${ENVIRONMENT_MARK}`)?.isFile() === true;
}

export interface SharedDependencies {
  /** The shared folders, absolute. */
  readonly folders: readonly string[];
  /** Identifies the installed state: one line per folder, independent of the workspace's path. */
  readonly versions: readonly string[];
}

/**
 * Adds the installed dependencies of the tree's folders to `tree`. They are taken from the same relative paths in the first of `roots` that
 * has them (absolute, without links). The copy has its own `node_modules` folders, in which each package is a symbolic link to the
 * installed one; a virtual environment is one link. The sandbox makes them read-only, because nothing outside the copy is writable. Links
 * of a monorepo from `node_modules` to its own packages are recreated inside the copy; otherwise the tests would run against unpatched
 * sources. Existing entries of the tree are kept. `composer-packages.ts` does the same for PHP.
 * @param read what a file (absolute) is in a copy
 */
export async function shareDependencies(
  tree: CopyTree, roots: readonly string[], slices: Slices, read: (absolute: string) => Promise<CopyEntry | undefined>,
): Promise<SharedDependencies> {
  const folders: string[] = [];
  const versions: string[] = [];
  const rootsWithFolders = [...new Set(roots)].map((root) => ({ root, plain: new PlainFolders(root) }));
  await slices.forEach([...tree.folders], async (folder) => {
    for (const name of [PACKAGES, ...ENVIRONMENTS, VENDOR]) {
      const relative = folder === '' ? name : `${folder}/${name}`;
      const found = rootsWithFolders.find(({ root, plain }) => plain.has(folder) && isShared(`${root}/${relative}`, name));
      if (!found) continue;
      const absolute = path.join(found.root, relative);
      folders.push(absolute);
      if (name === PACKAGES) {
        folders.push(...new Set(sharePackages(tree, found.root, relative)));
        versions.push(`${relative}\0${packagesVersion(absolute)}`);
      } else if (isComposerFolder(absolute, name)) {
        await shareComposerPackages(tree, found.root, relative, read);
        versions.push(`${relative}\0${composerVersion(absolute)}`);
      } else if (!tree.has(relative)) {
        tree.add(relative, { kind: 'link', target: absolute });
        versions.push(`${relative}\0${environmentVersion(absolute)}`);
      }
    }
  });
  return { folders, versions };
}

/** The folders in shared ones (absolute) that no run may see. */
export const cachesIn = (shared: readonly string[]): readonly string[] =>
  shared.filter((folder) => path.basename(folder) === PACKAGES).flatMap((folder) => entriesOf(folder).filter((entry) => CACHES.has(entry.name) && entry.isDirectory()).map(({ name }) => path.join(folder, name)));

function isShared(absolute: string, name: string): boolean {
  if (lookAt(absolute)?.isDirectory() !== true) return false;
  return name === PACKAGES || isEnvironment(absolute, name) || isComposerFolder(absolute, name);
}

/** Returns the folders outside of the workspace that links in `node_modules` lead to. */
function sharePackages(tree: CopyTree, root: string, relativeFolder: string): string[] {
  const linked: string[] = [];
  tree.addFolder(relativeFolder);
  for (const entry of entriesOf(`${root}/${relativeFolder}`)) {
    const relative = `${relativeFolder}/${entry.name}`;
    if (entry.isDirectory() && entry.name.startsWith('@')) linked.push(...sharePackages(tree, root, relative));
    if (tree.has(relative) || CACHES.has(entry.name)) continue;
    const shared = path.join(root, relative);
    if (entry.isSymbolicLink()) linked.push(...linkedPackage(root, shared));
    tree.add(relative, { kind: 'link', target: (entry.isSymbolicLink() && ownPackage(root, relativeFolder, shared)) || shared });
  }
  return linked;
}

/** Of a link to a package elsewhere: the `node_modules` that it is in, with what it depends on, or the package alone. */
function linkedPackage(root: string, link: string): readonly string[] {
  const target = realPathOf(link);
  if (target === undefined || isInside(root, target)) return [];
  const at = target.replaceAll('\\', '/').lastIndexOf(`/${PACKAGES}/`);
  if (at >= 0) return [target.slice(0, at + PACKAGES.length + 1)];
  return lookAt(`${target}/package.json`)?.isFile() === true ? [target] : [];
}

/** For a link in `node_modules` to a package of the workspace itself: the link target for the same package in the copy. */
function ownPackage(root: string, relativeFolder: string, link: string): string | undefined {
  const target = realPathOf(link);
  if (target === undefined || !isInside(root, target)) return undefined;
  const relative = path.relative(root, target);
  return relative.split(path.sep).includes(PACKAGES) ? undefined : path.relative(relativeFolder, relative) || '.';
}

function packagesVersion(folder: string): string {
  const records = PACKAGE_RECORDS.map((record) => changedAt(`${folder}/${record}`)).filter((time) => time !== undefined);
  // Without such a record, the folder's own time is used.
  return records.length > 0 ? records.join() : `${changedAt(folder)}`;
}

/** Installing or removing a package changes `site-packages`, which has a folder for each package version. */
function environmentVersion(folder: string): string {
  const libraries = [`${folder}/Lib`, ...entriesOf(`${folder}/lib`).map(({ name }) => `${folder}/lib/${name}`)];
  return [`${folder}/${ENVIRONMENT_MARK}`, ...libraries.map((library) => `${library}/site-packages`)].map(changedAt).join();
}

function changedAt(absolute: string): bigint | undefined {
  return lookAt(absolute)?.mtimeNs;
}
