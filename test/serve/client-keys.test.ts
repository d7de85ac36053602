import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClientKeys } from '../../backend/serve/client-keys.ts';
import { DuplicateKeyError } from '../../backend/common/hashed-keys.ts';

let home: string;
beforeEach(async () => { home = await mkdtemp(path.join(tmpdir(), 'conductor-keys-')); });
afterEach(() => rm(home, { recursive: true, force: true }));

describe('keys of programs', () => {
  it('keeps all that are made at once, and one of those with one name', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `program ${index}`);
    const keys = await Promise.all(names.map((name) => new ClientKeys(home).add(name, undefined)));
    const same = await Promise.allSettled(Array.from({ length: 10 }, () => new ClientKeys(home).add('same', 2)));
    expect(same.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(same.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])).every((error) => error instanceof DuplicateKeyError)).toBe(true);
    const found = await Promise.all(keys.map((key) => new ClientKeys(home).find(key)));
    expect(found.map((account) => account?.name)).toEqual(names);
    expect((await new ClientKeys(home).list()).map(({ name }) => name).sort()).toEqual([...names, 'same'].sort());
  });

  it('keeps no key, only for its owner, and leaves nothing of one that is taken back', async () => {
    const keys = new ClientKeys(home);
    const key = await keys.add('editor', 5);
    const [name] = await readdir(path.join(home, 'clients'));
    const file = path.join(home, 'clients', name!);
    expect(await readFile(file, 'utf8')).not.toContain(key);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect([await keys.remove('editor'), await keys.remove('editor'), await keys.find(key), await readdir(path.join(home, 'clients'))]).toEqual([true, false, undefined, []]);
  });

  it('notices each key that is made or taken back, also when the folder was long as it was', async () => {
    const keys = new ClientKeys(home);
    const first = await keys.add('first', undefined);
    const folder = path.join(home, 'clients');
    const longAgo = new Date(Date.now() - 3_600_000);
    await utimes(folder, longAgo, longAgo);
    expect([(await keys.find(first))?.name, (await keys.find(first))?.name]).toEqual(['first', 'first']);
    // Another process makes and takes back keys.
    const second = await new ClientKeys(home).add('second', undefined);
    expect((await keys.find(second))?.name).toBe('second');
    await new ClientKeys(home).remove('first');
    expect([await keys.find(first), (await keys.find(second))?.name]).toEqual([undefined, 'second']);
  });

  it('names a file that is no key', async () => {
    const keys = new ClientKeys(home);
    await keys.add('editor', undefined);
    await writeFile(path.join(home, 'clients/other.json'), '{');
    await expect(keys.find('x')).rejects.toThrow(/other\.json cannot be read: mend or remove it/);
  });
});
