import { mkdir, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../common/replace-file.ts';
import { addsTests } from './added-tests.ts';
import type { FileEdit, Patch } from './patch.ts';
import { isPathOfSuite, protectedReason } from '../files/protected-paths.ts';
import { readTextFile } from '../files/text-file.ts';
import { checkWorkspacePath, refusalOnDisk } from '../files/workspace-path.ts';

/** The patch does not fit the folder, or may not be written there. Nothing was written. */
export class PatchNotApplicableError extends Error {
  override readonly name = 'PatchNotApplicableError';
  readonly path: string;
  readonly reason: string;

  constructor(filePath: string, reason: string) {
    super(`The change cannot be written to ${filePath}: ${reason}`);
    this.path = filePath;
    this.reason = reason;
  }
}

/**
 * Writes a patch into a folder (absolute). Before the first write, all edits are checked again for paths, protected files and symbolic links,
 * because the folder may have changed since the answer was read. Each file is written to a temporary file and renamed. Throws
 * `PatchNotApplicableError`, with nothing written, or a file system error.
 * @param options `tests`: which tests may be among the edits, none by default
 */
export async function applyPatch(folder: string, patch: Pick<Patch, 'edits'>, { tests = 'none' }: { readonly tests?: AllowedTests } = {}): Promise<void> {
  const base = await realpath(folder);
  for (const edit of patch.edits) await check(base, edit, tests);
  for (const edit of patch.edits) await write(base, edit);
}

/** `new`: tests that are added. `all`: a person's change of tests, and of what belongs to them. */
type AllowedTests = 'none' | 'new' | 'all';

const isAllowed = async (edit: FileEdit, tests: AllowedTests): Promise<boolean> => (tests === 'new' && (await addsTests(edit))) || (tests === 'all' && isPathOfSuite(edit.path));

async function check(base: string, edit: FileEdit, tests: AllowedTests): Promise<void> {
  const checked = checkWorkspacePath(edit.path);
  const reason =
    checked.refused ??
    (checked.path === edit.path ? undefined : 'The path is not in its shortest form.') ??
    ((await isAllowed(edit, tests)) ? undefined : protectedReason(edit.path)) ??
    (await refusalOnDisk(base, edit.path));
  if (reason !== undefined) throw new PatchNotApplicableError(edit.path, reason);
  const found = await readTextFile(base, edit.path);
  if (found.kind === 'refused') throw new PatchNotApplicableError(edit.path, found.reason);
  if ((found.kind === 'text' ? found.text : null) !== edit.before) {
    throw new PatchNotApplicableError(edit.path, 'The file has changed since the answer was read.');
  }
}

async function write(base: string, edit: FileEdit): Promise<void> {
  const target = path.join(base, edit.path);
  if (edit.after === null) return await rm(target);
  await mkdir(path.dirname(target), { recursive: true });
  const refused = await refusalOnDisk(base, edit.path);
  if (refused !== undefined) throw new PatchNotApplicableError(edit.path, refused);
  const mode = edit.before === null ? 0o644 : (await stat(target)).mode & 0o777;
  // The folder is a copy for one test run: waiting for the disk would only delay each verification.
  await replaceFile(target, edit.after, { mode, isDurable: false });
}
