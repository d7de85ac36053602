import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../common/replace-file.ts';

/*
 * A client finds the backend through a record in the home folder. The record holds the token, so only its owner may read it. A record that
 * others could have read or written is refused.
 */

export const backendRecordSchema = z.object({
  port: z.number().int().min(1).max(65_535),
  pid: z.number().int().min(1),
  version: z.string().max(64),
  protocol: z.object({ major: z.number().int(), minor: z.number().int() }),
  token: z.string().min(32).max(256),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
});
export type BackendRecord = z.infer<typeof backendRecordSchema>;

/** The home folder or the record is not safe to use; the message says what to change. */
export class UnsafeHomeError extends Error {
  override readonly name = 'UnsafeHomeError';
  readonly path: string;

  constructor(unsafePath: string, message: string) {
    super(message);
    this.path = unsafePath;
  }
}

export function recordPath(home: string): string {
  return path.join(home, 'backend.json');
}

// Windows has no mode bits: there the folder inherits the access list of the user's profile.
const hasOwnerBits = process.getuid !== undefined;

/** Files that identify a folder as Conductor's, so that its mode may be changed. */
const OURS = ['workers.json', 'backend.lock'];

/**
 * Creates the folder with access for its owner only, or restricts an existing one of Conductor.
 * @throws UnsafeHomeError if it belongs to another user, or if others have access and it holds other files or files of theirs.
 */
export async function prepareHome(home: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  if (!hasOwnerBits) return;
  const { uid, mode } = await stat(home);
  if (uid !== process.getuid?.()) {
    throw new UnsafeHomeError(home, `${home} belongs to another user: set CONDUCTOR_HOME to a folder of your own.`);
  }
  if ((mode & 0o077) === 0) return;
  const names = await readdir(home);
  const planted = (mode & 0o022) === 0 ? undefined : await firstOfOthers(home, names);
  if (planted !== undefined) {
    throw new UnsafeHomeError(
      planted, `${planted} was put there by another user while ${home} was open to others: look at it, delete it and try again.`,
    );
  }
  if (names.length > 0 && !OURS.some((name) => names.includes(name))) {
    throw new UnsafeHomeError(
      home, `${home} is open to other users: set CONDUCTOR_HOME to a folder of its own, or close this one with "chmod 700".`,
    );
  }
  await chmod(home, 0o700);
}

/** The first file that belongs to another user. Another user's `workers.json` could send our keys to their server. */
async function firstOfOthers(home: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const file = path.join(home, name);
    if ((await lstat(file)).uid !== process.getuid?.()) return file;
  }
  return undefined;
}

/** Replaces the record in one step: a reader sees the old one or the new one, never half of one. */
export function writeRecord(home: string, record: BackendRecord): Promise<void> {
  // After a power cut the record is of no process.
  return replaceFile(recordPath(home), `${JSON.stringify(record, undefined, 2)}\n`, { isDurable: false });
}

/**
 * @returns `undefined` if there is no valid record.
 * @throws UnsafeHomeError if others can read or write it, or it belongs to another user.
 */
export async function readRecord(home: string): Promise<BackendRecord | undefined> {
  const file = recordPath(home);
  try {
    // Checked and read through one handle, so that it cannot be replaced in between. Links are not followed.
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const found = await handle.stat();
      const { uid, mode, size } = found;
      // Reading a pipe would block forever.
      if (!found.isFile()) throw new UnsafeHomeError(file, `${file} is no regular file: delete it and try again.`);
      if (hasOwnerBits && (uid !== process.getuid?.() || (mode & 0o077) !== 0)) {
        throw new UnsafeHomeError(file, `${file} can be read or written by other users: delete it and try again.`);
      }
      if (size > 16_384) return undefined;
      return backendRecordSchema.safeParse(JSON.parse(await handle.readFile('utf8'))).data;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) === 'ELOOP') throw new UnsafeHomeError(file, `${file} is a link: delete it and try again.`);
    throw error;
  }
}

/** Removes the record if it still belongs to the backend with this token. */
export async function removeRecord(home: string, token: string): Promise<void> {
  const record = await readFile(recordPath(home), 'utf8').catch(() => '');
  if (record.includes(JSON.stringify(token))) await rm(recordPath(home), { force: true });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
