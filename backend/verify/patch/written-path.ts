import { access } from 'node:fs/promises';
import path from 'node:path';
import { refusalOnDisk, checkWorkspacePath } from '../files/workspace-path.ts';
import { readTextFile } from '../files/text-file.ts';

/** Folders that models take for the workspace when they write absolute paths. */
const USUAL_ROOTS = /^(?:workspaces?|repos?|project|app|testbed|code|src-root|work)$/i;

/**
 * The path that a model wrote, as one of the workspace `base` (absolute), if it can be nothing else: with `a/` before it, from the root of the
 * file system, with backslashes, or with too few or too many folders before one of the files that were shown. Otherwise as written; it is checked later.
 */
export async function asWorkspacePath(written: string, base: string, shown: readonly string[]): Promise<string> {
  const plain = written.trim().replace(/^file:\/\//, '');
  if (await isFile(base, plain)) return plain;
  const slashed = plain.replaceAll('\\', '/');
  const segments = slashed.split('/');
  if (segments.includes('..') || /[\p{Cc}\p{Cf}]/u.test(plain)) return written;
  const isAbsolute = slashed.startsWith('/') || /^[A-Za-z]:\//.test(slashed);
  if (isAbsolute) return (await belowRoot(slashed, base, shown)) ?? written;
  if (slashed !== plain && (await isFile(base, slashed))) return slashed;
  if (/^[ab]\//.test(slashed) && (await isFile(base, slashed.slice(2)))) return slashed.slice(2);
  const rest = slashed.replace(/^(?:\.\/)+/, '');
  // The folder of the project itself before it.
  const own = `${path.basename(base)}/`;
  if (rest.startsWith(own) && (await isFile(base, rest.slice(own.length)))) return rest.slice(own.length);
  const [only, ...others] = [...new Set(shown)].filter((file) => file.endsWith(`/${rest}`));
  if (only !== undefined && others.length === 0) return only;
  // Folders before a file that was shown, of which the project has not even the first one.
  const [known] = shown.filter((file) => rest.endsWith(`/${file}`)).toSorted((a, b) => b.length - a.length);
  if (known !== undefined && !(await isThere(path.join(base, rest.split('/', 1)[0] ?? '')))) return known;
  return slashed !== plain && !segments.some((segment) => segment === '') ? slashed : written;
}

async function belowRoot(slashed: string, base: string, shown: readonly string[]): Promise<string | undefined> {
  const plainBase = base.replaceAll('\\', '/');
  if (slashed.startsWith(`${plainBase}/`)) return slashed.slice(plainBase.length + 1);
  const segments = slashed.replace(/^[A-Za-z]:/, '').split('/').filter((segment) => segment !== '');
  const roots = segments.slice(0, 4).flatMap((segment, index) => (USUAL_ROOTS.test(segment) || segment === path.basename(plainBase) ? [index] : []));
  const tails: string[] = [];
  for (let from = 1; from < Math.min(segments.length, 24); from += 1) {
    const tail = segments.slice(from).join('/');
    const isKnown = segments.length - from > 1 || roots.includes(from - 1) || shown.includes(tail);
    if (isKnown && (await isFile(base, tail))) tails.push(tail);
  }
  if (tails.length > 0) return tails.length === 1 ? tails[0] : undefined;
  // A new file below a folder that can only be the workspace.
  const root = roots[0];
  return root !== undefined && root < segments.length - 1 ? segments.slice(root + 1).join('/') : undefined;
}

const isThere = (file: string): Promise<boolean> => access(file).then(() => true, () => false);

async function isFile(base: string, file: string): Promise<boolean> {
  const checked = checkWorkspacePath(file);
  if (checked.refused !== undefined) return false;
  return (await refusalOnDisk(base, checked.path)) === undefined && (await readTextFile(base, checked.path)).kind !== 'absent';
}
