import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { unzipMembers, ZipError } from '../../../backend/lm/device/unzip.ts';
import { temporaryFolder } from '../download/temporary-folder.ts';
import { holds, noise } from '../download/tools.ts';
import { zipOf, type ZipFile } from './zip-file.ts';

const CONTENT = Buffer.concat([noise(200_000), Buffer.alloc(300_000)]);
const never = new AbortController().signal;

async function setup(archive: Buffer) {
  const folder = await temporaryFolder();
  const zip = path.join(folder, 'wheel.whl');
  await writeFile(zip, archive);
  const target = path.join(folder, 'lib.so');
  const unzip = (sizeBytes = CONTENT.length): Promise<void> => unzipMembers(zip, [{ name: 'pkg/lib.so', sizeBytes, target }], never);
  return { folder, zip, target, unzip };
}

describe('unzipping', () => {
  it.each<[string, Partial<ZipFile>, { is64?: boolean; comment?: string }]>([
    ['deflated', {}, {}], ['stored', { isStored: true }, {}], ['64-bit', { is64: true }, { is64: true }],
    ['commented', {}, { comment: 'PK\u0005\u0006 is how an end begins' }],
  ])('takes one file out of a %s archive', async (_name, file, options) => {
    const others = { name: 'pkg/other.so', content: noise(5_000) };
    const it = await setup(zipOf([others, { name: 'pkg/lib.so', content: CONTENT, ...file }, { ...others, name: 'z' }], options));
    await it.unzip();
    expect(await holds(it.target, CONTENT)).toBe(true);
    expect((await readdir(it.folder)).toSorted()).toEqual(['lib.so', 'wheel.whl']);
  });

  it('takes an empty file', async () => {
    const it = await setup(zipOf([{ name: 'pkg/lib.so', content: Buffer.alloc(0), isStored: true }]));
    await it.unzip(0);
    expect(await readFile(it.target)).toHaveLength(0);
  });

  it('reads what another program wrote', async () => {
    const it = await setup(Buffer.alloc(0));
    await writeFile(path.join(it.folder, 'in.so'), CONTENT);
    execFileSync('python3', ['-c', `import zipfile
with zipfile.ZipFile('wheel.whl', 'w', zipfile.ZIP_DEFLATED) as z:
    z.write('in.so', 'pkg/lib.so')`], { cwd: it.folder });
    await it.unzip();
    expect(await holds(it.target, CONTENT)).toBe(true);
  });

  it.each<[string, Buffer]>([
    ['is none', noise(50_000)],
    ['is empty', Buffer.alloc(0)],
    ['lacks the file', zipOf([{ name: 'lib.so', content: CONTENT }])],
    ['is cut', zipOf([{ name: 'pkg/lib.so', content: CONTENT }]).subarray(30_000)],
    ['has the file twice', zipOf([{ name: 'pkg/lib.so', content: CONTENT }, { name: 'pkg/lib.so', content: CONTENT }])],
    ['has the file in another size', zipOf([{ name: 'pkg/lib.so', content: CONTENT.subarray(1) }])],
    ['has more than it says', zipOf([{ name: 'pkg/lib.so', content: Buffer.alloc(50_000_000), claims: { sizeBytes: CONTENT.length } }])],
    ['has less than it says', zipOf([{ name: 'pkg/lib.so', content: CONTENT.subarray(9), claims: { sizeBytes: CONTENT.length } }])],
    ['has other bytes than it says', zipOf([{ name: 'pkg/lib.so', content: CONTENT, claims: { crc: 5 } }])],
    ['is encrypted', zipOf([{ name: 'pkg/lib.so', content: CONTENT, claims: { flags: 1 } }])],
    ['is packed otherwise', zipOf([{ name: 'pkg/lib.so', content: CONTENT, claims: { method: 14 } }])],
    ['is not what it says it is', zipOf([{ name: 'pkg/lib.so', content: CONTENT, isStored: true, claims: { method: 8 } }])],
  ])('refuses an archive that %s, and leaves nothing', async (_name, archive) => {
    const it = await setup(archive);
    await expect(it.unzip()).rejects.toBeInstanceOf(ZipError);
    expect(await readdir(it.folder)).toEqual(['wheel.whl']);
  });

  it('refuses any archive of which bytes were changed, or takes the right content out of it', async () => {
    const archive = zipOf([{ name: 'pkg/lib.so', content: CONTENT.subarray(0, 400) }]);
    for (let at = 0; at < archive.length; at += 1) {
      const changed = Buffer.from(archive);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      const it = await setup(changed);
      const result = await it.unzip(400).then(() => 'taken', (error: unknown) => error);
      if (result === 'taken') expect(await holds(it.target, CONTENT.subarray(0, 400))).toBe(true);
      else expect(result).toBeInstanceOf(ZipError);
    }
  });

  it('stops when it is told to', async () => {
    const it = await setup(zipOf([{ name: 'pkg/lib.so', content: CONTENT }]));
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    const members = [{ name: 'pkg/lib.so', sizeBytes: CONTENT.length, target: it.target }];
    await expect(unzipMembers(it.zip, members, controller.signal)).rejects.toThrow('enough');
    expect(await readdir(it.folder)).toEqual(['wheel.whl']);
  });
});
