import { readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';
import type { CopyTree } from '../files/copy-tree.ts';
import { isInside, lookAt, PlainFolders, realPathOf } from '../files/plain-folders.ts';
import type { Slices } from '../../common/slices.ts';

const PACKAGES = 'node_modules';
/** Where Python's virtual environments lie by custom; each holds `ENVIRONMENT_MARK`. */
const ENVIRONMENTS = ['.venv', 'venv', 'env'];
const ENVIRONMENT_MARK = 'pyvenv.cfg';

/** Package managers write one of these with every change of what is installed. */
const PACKAGE_RECORDS = ['.package-lock.json', '.modules.yaml', '.yarn-integrity', '.yarn-state.yml'];

/** Tools write there while tests run, and what is shared cannot be written. */
const CACHES = new Set(['.cache', '.vite', '.vite-temp', '.vitest']);

/** Whether a folder is a Python environment; `absolute` ends with `name`. */
export function isEnvironment(absolute: string, name: string): boolean {
  return ENVIRONMENTS.includes(name) && lookAt(`${absolute}/${ENVIRONMENT_MARK}`)?.isFile() === true;
}

export interface SharedDependencies {
  /** What is shared, absolute. */
  readonly folders: readonly string[];
  /** Tells one state of what is installed from another: a line for each folder, however the workspace is called. */
  readonly versions: readonly string[];
}

/**
 * Adds to `tree` what is installed for its folders, found at the same places below `roots` (absolute, without links; the first that
 * has it counts). The copy has its own `node_modules` folders, in which each package is a symbolic link to the installed one; a
 * virtual environment is a link altogether. Inside the sandbox that is read-only, because nothing outside the copy can be written.
 * Links of a monorepo from `node_modules` back into its packages are recreated inside the copy, or the tests would run against the
 * unpatched sources. Nothing takes the place of what the tree already holds.
 */
export async function shareDependencies(tree: CopyTree, roots: readonly string[], slices: Slices): Promise<SharedDependencies> {
  const folders: string[] = [];
  const versions: string[] = [];
  const rootsWithFolders = [...new Set(roots)].map((root) => ({ root, plain: new PlainFolders(root) }));
  await slices.forEach([...tree.folders], (folder) => {
    for (const name of [PACKAGES, ...ENVIRONMENTS]) {
      const relative = folder === '' ? name : `${folder}/${name}`;
      const found = rootsWithFolders.find(({ root, plain }) => plain.has(folder) && isShared(`${root}/${relative}`, name));
      if (!found) continue;
      const absolute = path.join(found.root, relative);
      folders.push(absolute);
      if (name === PACKAGES) {
        sharePackages(tree, found.root, relative);
        versions.push(`${relative}\0${packagesVersion(absolute)}`);
      } else if (!tree.has(relative)) {
        tree.add(relative, { kind: 'link', target: absolute });
        versions.push(`${relative}\0${environmentVersion(absolute)}`);
      }
    }
  });
  return { folders, versions };
}

function isShared(absolute: string, name: string): boolean {
  if (lookAt(absolute)?.isDirectory() !== true) return false;
  return name === PACKAGES || isEnvironment(absolute, name);
}

function sharePackages(tree: CopyTree, root: string, relativeFolder: string): void {
  tree.addFolder(relativeFolder);
  for (const entry of entriesOf(`${root}/${relativeFolder}`)) {
    const relative = `${relativeFolder}/${entry.name}`;
    if (entry.isDirectory() && entry.name.startsWith('@')) sharePackages(tree, root, relative);
    if (tree.has(relative) || CACHES.has(entry.name)) continue;
    const shared = path.join(root, relative);
    tree.add(relative, { kind: 'link', target: (entry.isSymbolicLink() && ownPackage(root, relativeFolder, shared)) || shared });
  }
}

/** For a link in `node_modules` that leads to a package of the workspace itself: the link to the same package of the copy. */
function ownPackage(root: string, relativeFolder: string, link: string): string | undefined {
  const target = realPathOf(link);
  if (target === undefined || !isInside(root, target)) return undefined;
  const relative = path.relative(root, target);
  return relative.split(path.sep).includes(PACKAGES) ? undefined : path.relative(relativeFolder, relative) || '.';
}

function packagesVersion(folder: string): string {
  const records = PACKAGE_RECORDS.map((record) => changedAt(`${folder}/${record}`)).filter((time) => time !== undefined);
  // Without such a record the folder itself has to do.
  return records.length > 0 ? records.join() : `${changedAt(folder)}`;
}

/** An installed or removed package changes `site-packages`, which holds a folder with the version of each. */
function environmentVersion(folder: string): string {
  const libraries = [`${folder}/Lib`, ...entriesOf(`${folder}/lib`).map(({ name }) => `${folder}/lib/${name}`)];
  return [`${folder}/${ENVIRONMENT_MARK}`, ...libraries.map((library) => `${library}/site-packages`)].map(changedAt).join();
}

function changedAt(absolute: string): bigint | undefined {
  return lookAt(absolute)?.mtimeNs;
}

/** None of a folder that cannot be read. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
