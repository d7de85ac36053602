import { mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { FileEdit } from '../../protocol/methods.ts';
import { toPlainText, usesCrlf } from '../../verify/files/text-file.ts';
import { checkWorkspacePath, refusalOnDisk } from '../../verify/files/workspace-path.ts';

/** The files of an editor, with what is not saved yet. A part is absent if the editor cannot do it. Paths are absolute. */
export interface EditorFiles {
  readonly read?: ((file: string) => Promise<string>) | undefined;
  readonly write?: ((file: string, text: string) => Promise<void>) | undefined;
}

/** Why a change was not written; a sentence for people. */
export class ChangeNotWrittenError extends Error {
  override readonly name = 'ChangeNotWrittenError';
}

interface PlacedEdit extends FileEdit {
  readonly file: string;
  /** The text as it stands; undefined if there is no such file. */
  readonly current: string | undefined;
}

/**
 * Writes a change to the project: through the editor where it can, so that its undo and its open files know of it. Files that are removed are
 * removed on disk, for which editors have no request. If a file cannot be written, those before it are put back.
 * @param folder the project, absolute @throws ChangeNotWrittenError; no file is changed then
 */
export async function writeChange(folder: string, edits: readonly FileEdit[], editor: EditorFiles): Promise<void> {
  const placed = await Promise.all(edits.map((edit) => place(folder, edit, editor)));
  const written: PlacedEdit[] = [];
  for (const edit of placed) {
    try {
      await write(edit, edit.after === null ? undefined : withLineEnds(edit.after, edit.current), editor);
      written.push(edit);
    } catch (error) {
      const lost: string[] = [];
      for (const done of written.reverse()) await write(done, done.current, editor).catch(() => lost.push(done.path));
      const rest = lost.length > 0 ? `${lost.join(', ')} could not be put back.` : 'No file was changed.';
      throw new ChangeNotWrittenError(`${edit.path} could not be written: ${messageOf(error)} ${rest}`, { cause: error });
    }
  }
}

/** A model wrote the path: it is a file of the project, and no link leads out. The file is as the edit expects it. */
async function place(folder: string, edit: FileEdit, editor: EditorFiles): Promise<PlacedEdit> {
  const checked = checkWorkspacePath(edit.path);
  if (checked.refused !== undefined) throw refusal(edit, checked.refused);
  const refused = await refusalOnDisk(await realpath(folder), checked.path);
  if (refused !== undefined) throw refusal(edit, refused);
  const file = path.join(folder, checked.path);
  const current = await textNow(file, editor);
  if (plain(current) !== plain(edit.before ?? undefined)) {
    const reason = current === undefined ? 'is gone' : edit.before === null ? 'exists by now' : 'has other text by now';
    throw new ChangeNotWrittenError(`Nothing was written: ${edit.path} ${reason}.`);
  }
  return { ...edit, file, current };
}

const refusal = ({ path: named }: FileEdit, reason: string): ChangeNotWrittenError => new ChangeNotWrittenError(`Nothing was written: ${named}: ${reason}`);

async function textNow(file: string, { read }: EditorFiles): Promise<string | undefined> {
  let onDisk: string;
  try {
    onDisk = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined;
    throw new ChangeNotWrittenError(`Nothing was written: ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  // An editor that cannot read it, such as one that knows only the files of its project, has no unsaved text of it either.
  return read ? await read(file).catch(() => onDisk) : onDisk;
}

async function write({ file }: PlacedEdit, text: string | undefined, editor: EditorFiles): Promise<void> {
  if (text === undefined) return await rm(file, { force: true });
  await mkdir(path.dirname(file), { recursive: true });
  if (editor.write) await editor.write(file, text);
  else await writeFile(file, text);
}

/** Editors read line ends and a byte order mark in their own ways. */
const plain = (text: string | undefined): string | undefined => (text === undefined ? undefined : toPlainText(text));

/** A file whose lines all end as on Windows keeps that. */
function withLineEnds(text: string, current: string | undefined): string {
  return current !== undefined && usesCrlf(current) ? text.replace(/\r?\n/g, '\r\n') : text;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
