import type { Dirent } from 'node:fs';
import path from 'node:path';
import type { CopyEntry, CopyTree } from '../files/copy-tree.ts';
import { entriesOf, isInside, lookAt, realPathOf } from '../files/plain-folders.ts';

/** Composer's folder. */
export const VENDOR = 'vendor';

/** Composer's record of what is installed. */
const RECORD = 'composer/installed.json';

/** Whether a folder holds what Composer installed; `absolute` ends with `name`. */
export function isComposerFolder(absolute: string, name: string): boolean {
  return name === VENDOR && ['autoload.php', RECORD].every((file) => lookAt(`${absolute}/${file}`)?.isFile() === true);
}

/**
 * Adds what Composer installed to `tree`: each package as a link to the installed one, and what Composer itself wrote (the autoloader and the programs)
 * as files. They find the project beside themselves, by their real path, so a link would load the sources of the workspace. A package that is
 * a part of the workspace is a link inside the copy. Entries that are there are kept.
 * @param relative the folder, as `isComposerFolder` says
 * @param read what a file (absolute) is in a copy
 */
export async function shareComposerPackages(tree: CopyTree, root: string, relative: string, read: (absolute: string) => Promise<CopyEntry | undefined>): Promise<void> {
  const written = async (file: string): Promise<void> => {
    const entry = tree.has(file) ? undefined : await read(`${root}/${file}`);
    if (entry) tree.add(file, entry);
  };
  for (const entry of entriesOf(`${root}/${relative}`)) {
    const place = `${relative}/${entry.name}`;
    if (entry.isFile()) await written(place);
    else if (entry.isDirectory()) {
      for (const inner of entriesOf(`${root}/${place}`)) {
        const inside = `${place}/${inner.name}`;
        if (inner.isFile()) await written(inside);
        else if (!tree.has(inside)) tree.add(inside, { kind: 'link', target: targetOf(root, inside, inner) });
      }
    }
  }
}

/** Identifies what is installed. */
export const composerVersion = (folder: string): string => String(lookAt(`${folder}/${RECORD}`)?.mtimeNs);

/** A link that leads into the workspace leads to the same place in the copy, such as that of a program to its package. */
function targetOf(root: string, relative: string, entry: Dirent): string {
  const shared = path.join(root, relative);
  const target = entry.isSymbolicLink() ? realPathOf(shared) : undefined;
  return target !== undefined && isInside(root, target) ? path.relative(path.dirname(relative), path.relative(root, target)) : shared;
}
