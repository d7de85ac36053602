import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { conductorHome } from '../../backend/protocol/client/conductor-home.ts';
import {
  prepareHome, readRecord, recordPath, removeRecord, UnsafeHomeError, writeRecord, type BackendRecord,
} from '../../backend/protocol/client/discovery.ts';

let home: string;
beforeEach(async () => { home = await mkdtemp(path.join(tmpdir(), 'conductor-home-')); });
afterEach(() => rm(home, { recursive: true, force: true }));

const record: BackendRecord = {
  port: 4_711, pid: 42, version: '1.2.3', protocol: { major: 1, minor: 0 }, token: 'x'.repeat(43), startedAt: 1_700_000_000_000,
};
const posix = process.getuid !== undefined;

describe('the home folder', () => {
  test('is CONDUCTOR_HOME, or .conductor in the user\'s own', () => {
    expect(conductorHome({ CONDUCTOR_HOME: '/somewhere/else' })).toBe(path.resolve('/somewhere/else'));
    expect(conductorHome({ CONDUCTOR_HOME: '' })).toBe(path.join(homedir(), '.conductor'));
    expect(conductorHome({})).toBe(path.join(homedir(), '.conductor'));
    // A program that was to put its value there found none.
    for (const left of ['$CONDUCTOR_HOME', '${CONDUCTOR_HOME}', '%CONDUCTOR_HOME%']) expect(conductorHome({ CONDUCTOR_HOME: left })).toBe(path.join(homedir(), '.conductor'));
  });

  test.runIf(posix)('is made for its owner alone, and one of ours that is open is narrowed', async () => {
    const fresh = path.join(home, 'a', 'b');
    await prepareHome(fresh);
    expect((await stat(fresh)).mode & 0o777).toBe(0o700);
    await chmod(fresh, 0o755);
    await prepareHome(fresh);
    expect((await stat(fresh)).mode & 0o777).toBe(0o700);
    await writeFile(path.join(fresh, 'workers.json'), '{}');
    await chmod(fresh, 0o775);
    await prepareHome(fresh);
    expect((await stat(fresh)).mode & 0o777).toBe(0o700);
  });

  test.runIf(process.getuid?.() === 0)('that was open for writing and holds a file of another user is refused', async () => {
    const planted = path.join(home, 'workers.json');
    await writeFile(planted, '{}');
    await chown(planted, 65_534, 65_534);
    await chmod(home, 0o777);
    await expect(prepareHome(home)).rejects.toThrow(`${planted} was put there by another user`);
    await rm(planted);
    await writeFile(planted, '{}');
    await prepareHome(home);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
  });

  test.runIf(posix)('that is open and holds other things is refused, and left as it is', async () => {
    await writeFile(path.join(home, 'thesis.tex'), '');
    await chmod(home, 0o755);
    await expect(prepareHome(home)).rejects.toThrow(/is open to other users: set CONDUCTOR_HOME/);
    expect((await stat(home)).mode & 0o777).toBe(0o755);
    await chmod(home, 0o700);
    await prepareHome(home);
  });

  test.runIf(process.getuid?.() === 0)('that belongs to somebody else is refused', async () => {
    const { chown } = await import('node:fs/promises');
    await chown(home, 12_345, 12_345);
    await expect(prepareHome(home)).rejects.toThrow(UnsafeHomeError);
    await chown(home, 0, 0);
  });
});

describe('the record', () => {
  test('is read as it was written, by its owner alone, and leaves nothing beside it', async () => {
    await writeRecord(home, { ...record, port: 1 });
    await writeRecord(home, record);
    expect(await readRecord(home)).toEqual(record);
    expect(await readdir(home)).toEqual(['backend.json']);
    if (posix) expect((await stat(recordPath(home))).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['nothing', undefined],
    ['half of one', '{"port": 4711, "pid":'],
    ['another thing', '[]'],
    ['a port that is none', JSON.stringify({ ...record, port: 70_000 })],
    ['a port that is text', JSON.stringify({ ...record, port: '4711/../' })],
    ['a pid that is a process group', JSON.stringify({ ...record, pid: -1 })],
    ['a token that is too short to be one', JSON.stringify({ ...record, token: 'x' })],
    ['something huge', JSON.stringify({ ...record, more: 'x'.repeat(20_000) })],
  ])('of %s is no record', async (_what, content) => {
    if (content !== undefined) await writeFile(recordPath(home), content, { mode: 0o600 });
    expect(await readRecord(home)).toBeUndefined();
  });

  test.runIf(posix)('that is a pipe is refused at once', async () => {
    execFileSync('mkfifo', ['-m', '600', recordPath(home)]);
    await expect(readRecord(home)).rejects.toThrow('no regular file');
  });

  test.runIf(posix).each([0o604, 0o640, 0o602, 0o620])('that others could touch (%o) is refused', async (mode) => {
    await writeRecord(home, record);
    await chmod(recordPath(home), mode);
    await expect(readRecord(home)).rejects.toThrow(UnsafeHomeError);
    await expect(readRecord(home)).rejects.toThrow('delete it');
  });

  test.runIf(posix)('that is a link is not followed', async () => {
    await writeRecord(home, record);
    await rename(recordPath(home), path.join(home, 'real.json'));
    await symlink('real.json', recordPath(home));
    await expect(readRecord(home)).rejects.toThrow(UnsafeHomeError);
  });

  test.runIf(process.getuid?.() === 0)('of another user is refused', async () => {
    const { chown } = await import('node:fs/promises');
    await writeRecord(home, record);
    await chown(recordPath(home), 12_345, 12_345);
    await expect(readRecord(home)).rejects.toThrow(UnsafeHomeError);
  });

  test('is removed by the backend it is of, and not by its predecessor', async () => {
    await writeRecord(home, record);
    await removeRecord(home, 'y'.repeat(43));
    expect(await readRecord(home)).toEqual(record);
    await removeRecord(home, record.token);
    expect(await readRecord(home)).toBeUndefined();
    await removeRecord(home, record.token);
  });
});
