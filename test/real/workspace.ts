import { appendFile, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { git } from '../bench/context/historic-fix.ts';
import { partsOfFix, type FixParts, type PinnedFix } from './pinned-fix.ts';

/** A checkout of a fix's parent with the tests of the fix in its last commit. */
export interface Workspace extends FixParts {
  readonly folder: string;
  readonly fix: PinnedFix;
}

/**
 * Makes the checkout in `folder`, anew. `repositories`: where `OWNER+NAME/repo` is a bare repository; without it the repository is cloned
 * from GitHub. Throws what Git says.
 */
export async function checkOut(fix: PinnedFix, folder: string, repositories: string | undefined): Promise<Workspace> {
  await rm(folder, { recursive: true, force: true });
  const local = path.join(repositories ?? '', fix.repository.replace('/', '+'), 'repo');
  const isLocal = repositories !== undefined && (await stat(local).then(() => true, () => false));
  const source = isLocal ? ['--shared', local] : ['--filter=blob:none', `https://github.com/${fix.repository}.git`];
  await mkdir(path.dirname(folder), { recursive: true });
  await git(path.dirname(folder), 'clone', '--quiet', '--no-checkout', ...source, folder);
  await git(folder, 'checkout', '--quiet', '--detach', `${fix.commit}^`);
  const parts = await partsOfFix(folder, fix.commit);
  for (const { path: file, isDeleted } of parts.tests)
    await (isDeleted ? git(folder, 'rm', '--quiet', '--', file) : git(folder, 'checkout', '--quiet', fix.commit, '--', file));
  await leaveOutMissing(folder);
  await appendFile(path.join(folder, '.git', 'info', 'exclude'), '\n.venv/\nnode_modules/\ntarget/\n');
  await git(folder, '-c', 'user.name=real', '-c', 'user.email=real@example.com', 'commit', '--quiet', '--no-verify', '--allow-empty', '-m', 'Add the tests of the fix');
  return { ...parts, folder, fix };
}

/** Takes files out of the index that Git could not write: a repository at hand may lack large ones. Tests that need them are red throughout. */
async function leaveOutMissing(folder: string): Promise<void> {
  const missing = (await git(folder, 'ls-files', '-z', '--deleted')).split('\0').filter((file) => file !== '');
  if (missing.length > 0) await git(folder, 'rm', '--quiet', '--cached', '--', ...missing);
}

/** Puts every file back as it was committed. Ignored files, such as caches of the tool chain, stay. */
export async function putBack({ folder }: Workspace): Promise<void> {
  await git(folder, 'reset', '--quiet', '--hard');
  await git(folder, 'clean', '--quiet', '-d', '--force');
}

/** Makes the change of the fix in the checkout. */
export async function applyFix({ folder, fix, sources }: Workspace): Promise<void> {
  for (const { path: file, isDeleted } of sources) {
    if (isDeleted) await rm(path.join(folder, file), { force: true });
    else await git(folder, 'restore', '--source', fix.commit, '--worktree', '--', file);
  }
}

export async function write({ folder }: Workspace, texts: ReadonlyMap<string, string>): Promise<void> {
  for (const [file, text] of texts) await writeFile(path.join(folder, file), text);
}

/** What differs from the last commit, as a diff. */
export async function difference({ folder }: Workspace): Promise<string> {
  await git(folder, 'add', '--intent-to-add', '.');
  return await git(folder, 'diff', '--no-color', '--no-ext-diff', '--no-renames', 'HEAD');
}
