import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, unlinkSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isProcessAlive } from '../../backend/protocol/client/process-alive.ts';
import { CopyPool, type CopyPoolOptions, type LeasedCopy, type WorkspaceSnapshot } from '../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../backend/verify/files/run-folder.ts';
import { makeScratch, PATIENTLY, trySandbox, type Scratch } from './setup.ts';

const { available, note } = await trySandbox();
const { signal } = new AbortController();

const PROJECT = {
  'a.js': 'a',
  'b.js': 'b',
  'run.sh': '#!/bin/sh\n',
  'link.js': { link: 'a.js' },
  'src/c.js': 'c',
  'src/deep/d.js': 'd',
  'node_modules/dep/index.js': 'dep',
  'node_modules/@scope/dep/index.js': 'scoped',
  '.git/config': '[remote "origin"]\n\turl = https://example.org/\n',
};

/** Everything below a folder, with kind, mode and content. */
async function everything(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const absolute = path.join(entry.parentPath, entry.name);
    const { mode } = await lstat(absolute);
    const content = entry.isSymbolicLink() ? await readlink(absolute) : entry.isFile() ? await readFile(absolute, 'latin1') : '';
    found[path.relative(folder, absolute)] = `${(mode & 0o170000).toString(8)} ${(mode & 0o7777).toString(8)} ${content}`;
  }
  return found;
}

function shell(cwd: string, command: string): void {
  execFileSync('/bin/sh', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
}

function poolIn(scratch: Scratch, options: Partial<CopyPoolOptions> = {}): CopyPool {
  return new CopyPool({ folders: scratch.folders, ...options });
}

/** More than is kept without use. It takes no room. */
const LARGE = { name: 'large.bin', bytes: 300 * 1024 ** 2 };

/** Of a workspace with a large file, which is then emptied. */
async function snapshotOfLarge(pool: CopyPool, folder: string): Promise<WorkspaceSnapshot> {
  const large = path.join(folder, LARGE.name);
  await writeFile(large, '');
  await truncate(large, LARGE.bytes);
  const snapshot = await pool.snapshot({ folder }, signal);
  await truncate(large, 0);
  return snapshot;
}

const OUTSIDE = '../../../outside';

/** What a run of the tests may do to its copy, by shell, and whether the copy is good for another run. */
const TAMPERINGS: readonly [name: string, command: string, isLost?: 'lost'][] = [
  ['writes a file', 'printf changed > a.js'],
  ['writes in place as much as there was and sets the time back', 'touch -r a.js ../t; printf A | dd of=a.js conv=notrunc; touch -r ../t a.js'],
  ['replaces a file by another of the same time', 'cp -p a.js n; printf A > n; touch -r a.js n; mv n a.js'],
  ['exchanges two files', 'mv a.js n && mv b.js a.js && mv n b.js'],
  ['exchanges two folders', 'mkdir n && cp -p src/c.js n/c.js && mv src o && mv n src'],
  ['removes files and folders', 'rm -r a.js src link.js'],
  ['makes a file of a folder', 'rm -r src && echo > src'],
  ['makes a folder of a file', 'rm a.js && mkdir -p a.js/b && echo > a.js/b/c'],
  ['makes a link of a file', `ln -sf ${OUTSIDE}/a.js a.js`],
  ['makes a link of a folder', `rm -r src && ln -s ${OUTSIDE} src`],
  ['leaves links', `ln -s ${OUTSIDE} out; ln -s / src/root`],
  ['makes hard links', 'ln a.js other; ln src/c.js src/other; echo more >> src/other'],
  ['makes pipes', 'mkfifo p src/p; rm a.js; mkfifo a.js'],
  ['turns a link elsewhere', 'rm link.js && ln -s b.js link.js'],
  ['changes modes', 'chmod 777 a.js src .; chmod 644 run.sh; chmod 1755 src/deep'],
  ['takes rights away', 'mkdir -p n/m && echo > n/m/f; chmod 0 n/m n a.js src/deep src'],
  ['leaves many files in a folder', 'mkdir -p n/m src/many; seq -f n/m/%g 2000 | xargs touch; seq -f src/many/%g 100 | xargs touch'],
  ['leaves very many files', 'seq -f src/%g 10001 | xargs touch', 'lost'],
  ['leaves folders deeper than a path can say', 'n=$(printf %0200d 0); for i in $(seq 40); do mkdir $n && cd -P $n; done; echo > f'],
  ['leaves names that are not text', "printf x > $(printf 'src/\\377')", 'lost'],
  ['leaves names that are not text in a folder of its own', "mkdir n; printf x > $(printf 'n/\\377')"],
  ['changes what is installed', 'rm node_modules/dep; mkdir node_modules/dep; echo evil > node_modules/dep/index.js; echo > node_modules/new'],
  ['replaces what is installed', 'rm -r node_modules; mkdir -p node_modules/dep; echo evil > node_modules/dep/index.js'],
  ['adds to a scope', 'ln -s /tmp node_modules/@scope/evil; rm node_modules/@scope/dep; ln -s /tmp node_modules/@scope/dep'],
  ['configures Git', 'echo "[core]" >> .git/config; mkdir .git/hooks; echo > .git/hooks/post-checkout; echo x > .git/refs/heads'],
  ['commits', 'git init -q; git add -A; git -c user.name=t -c user.email=t@example.org commit -qm stolen'],
];

describe('a copy is as new after a run that', () => {
  it.each(TAMPERINGS)('%s', async (_, command, isLost) => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const outside = await scratch.project({ 'a.js': 'outside', 'c.js': 'outside', 'deep/d.js': 'outside' }, 'outside');
    const pool = poolIn(scratch);
    const before = await everything(base);
    const snapshot = await pool.snapshot({ folder: base }, signal);
    const first = await pool.lease(snapshot, signal);
    const clean = await everything(first.folder);
    const untouched = await stat(path.join(first.folder, 'run.sh'));
    shell(first.folder, command.replaceAll(OUTSIDE, outside));
    await first.release();
    const second = await pool.lease(snapshot, signal);
    expect(await everything(second.folder)).toEqual(clean);
    expect(second.folder === first.folder).toBe(isLost === undefined);
    if (!/run\.sh/.test(command) && !isLost) expect((await stat(path.join(second.folder, 'run.sh'))).ino).toBe(untouched.ino);
    expect(await everything(base)).toEqual(before);
    expect(Object.values(await everything(outside)).filter((entry) => entry.endsWith('outside'))).toHaveLength(3);
    await second.release();
    await pool.close();
    expect(await readdir(scratch.folders.root)).toEqual([]);
  });

  it('set the times of a folder or wrote into it, by which the next run could tell that there was one', async () => {
    await using scratch = await makeScratch();
    const pool = poolIn(scratch);
    const snapshot = await pool.snapshot({ folder: await scratch.project(PROJECT) }, signal);
    const first = await pool.lease(snapshot, signal);
    const folders = ['', 'src', 'src/deep'].map((folder) => path.join(first.folder, folder));
    shell(first.folder, 'touch -d 2001-01-01 src; touch src/deep/new');
    await first.release();
    const second = await pool.lease(snapshot, signal);
    expect(second.folder).toBe(first.folder);
    const times = await Promise.all(folders.map(async (folder) => (await stat(folder, { bigint: true })).mtimeNs));
    expect(new Set(times).size).toBe(1);
    await second.release();
    await pool.close();
  });

  it.skipIf(!available)(`does all of that ${note}`, { timeout: 60_000 }, async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project(PROJECT);
    const pool = poolIn(scratch);
    const snapshot = await pool.snapshot({ folder: base }, signal);
    let copy = await pool.lease(snapshot, signal);
    const clean = await everything(copy.folder);
    for (const [name, command] of TAMPERINGS) {
      const { temporary, remove } = await scratch.folders.create();
      const { folder: cwd, sharedFolders } = copy;
      await scratch.sandbox.run({
        // The shell's own errors are beside the point: some tampering is held back by the sandbox already.
        command: `(${command}); true`, cwd, temporary, readable: sharedFolders, hidden: [base], timeoutMs: 20_000, signal, sandboxed: true,
      });
      await remove();
      await copy.release();
      copy = await pool.lease(snapshot, signal);
      expect(await everything(copy.folder), name).toEqual(clean);
    }
    await pool.close();
  });

  it('changes a file the moment it has it', async () => {
    await using scratch = await makeScratch();
    const pool = poolIn(scratch);
    const snapshot = await pool.snapshot({ folder: await scratch.project(PROJECT) }, signal);
    for (let round = 0; round < 100; round += 1) {
      const copy = await pool.lease(snapshot, signal);
      expect(await readFile(path.join(copy.folder, 'a.js'), 'utf8')).toBe('a');
      // Another folder each time, so that there is always something to write again.
      await rm(path.join(copy.folder, 'src/deep/d.js'));
      await writeFile(path.join(copy.folder, 'a.js'), 'A', { flag: 'r+' });
      await copy.release();
    }
    await pool.close();
  });
});

describe('a snapshot', () => {
  it('stays what it was while the user goes on', async () => {
    await using scratch = await makeScratch();
    const folder = await scratch.project(PROJECT);
    const pool = poolIn(scratch);
    const old = await pool.snapshot({ folder }, signal);
    const first = await pool.lease(old, signal);
    const clean = await everything(first.folder);
    await first.release();
    await writeFile(path.join(folder, 'a.js'), 'edited');
    await scratch.project({ 'src/new/e.js': 'e' });
    await rm(path.join(folder, 'src/deep'), { recursive: true });
    const second = await pool.lease(old, signal);
    expect(await everything(second.folder)).toEqual(clean);
    await second.release();

    const next = await pool.snapshot({ folder }, signal);
    const third = await pool.lease(next, signal);
    expect(await readFile(path.join(third.folder, 'a.js'), 'utf8')).toBe('edited');
    expect(await readdir(path.join(third.folder, 'src'))).toEqual(['c.js', 'new']);
    await third.release();

    await rm(folder, { recursive: true });
    const fourth = await pool.lease(old, signal);
    expect(Object.keys(await everything(fourth.folder)).sort()).toEqual(Object.keys(clean).sort());
    await fourth.release();
    await pool.close();
  });

  it('sees every change, also one that keeps size and time', async () => {
    await using scratch = await makeScratch();
    const folder = await scratch.project(PROJECT);
    const pool = poolIn(scratch);
    const file = path.join(folder, 'a.js');
    const { atime, mtime } = await stat(file);
    // Long after the files were written: then they are only read again if they look changed.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    const seen = new Set([(await pool.snapshot({ folder }, signal)).fingerprint]);
    for (const content of 'ABCDEFGH') {
      await writeFile(file, content, { flag: 'r+' });
      await utimes(file, atime, mtime);
      seen.add((await pool.snapshot({ folder }, signal)).fingerprint);
    }
    expect(seen.size).toBe(9);
    await pool.close();
  });

  it('can be taken while files vanish', async () => {
    await using scratch = await makeScratch();
    const folder = await scratch.project(Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`src/${index}.js`, 'x'.repeat(999)])));
    const pool = poolIn(scratch);
    const taken = pool.snapshot({ folder }, signal);
    for (const [index, name] of readdirSync(path.join(folder, 'src')).entries()) {
      unlinkSync(path.join(folder, 'src', name));
      if (index % 5 === 0) await setImmediate();
    }
    const snapshot = await taken;
    const copy = await pool.lease(snapshot, signal);
    const held = Object.keys(await everything(copy.folder)).filter((file) => file.endsWith('.js'));
    expect(held.sort()).toEqual([...snapshot.paths].sort());
    await copy.release();
    await pool.close();
  });

  it('can be taken several at a time', async () => {
    await using scratch = await makeScratch();
    const folder = await scratch.project(PROJECT);
    const pool = poolIn(scratch);
    const all = await Promise.all([1, 2, 3].map(() => pool.snapshot({ folder }, signal)));
    expect(new Set(all.map(({ fingerprint }) => fingerprint)).size).toBe(1);
    for (const snapshot of all) await (await pool.lease(snapshot, signal)).release();
    await pool.close();
  });

  it('is good although most of what was kept with it is of no use any more', async () => {
    await using scratch = await makeScratch();
    const folder = await scratch.project(PROJECT);
    const pool = poolIn(scratch);
    const old = await snapshotOfLarge(pool, folder);
    await pool.snapshot({ folder }, signal);
    const next = await pool.lease(await pool.snapshot({ folder }, signal), signal);
    expect((await stat(path.join(next.folder, LARGE.name))).size).toBe(0);
    const copy = await pool.lease(old, signal);
    expect((await stat(path.join(copy.folder, LARGE.name))).size).toBe(LARGE.bytes);
    await Promise.all([next.release(), copy.release()]);
    await pool.close();
  });

  it('keeps what is of no use any more no longer than it may itself be used', async () => {
    await using scratch = await makeScratch();
    const folder = await scratch.project(PROJECT);
    const pool = poolIn(scratch, { idleMs: 20 });
    await snapshotOfLarge(pool, folder);
    await pool.snapshot({ folder }, signal);
    const next = await pool.lease(await pool.snapshot({ folder }, signal), signal);
    const sizes = async (): Promise<number[]> => {
      const names = await readdir(scratch.folders.root, { recursive: true });
      return await Promise.all(names.map((name) => stat(path.join(scratch.folders.root, name)).then(({ size }) => size, () => 0)));
    };
    await vi.waitFor(async () => expect(Math.max(...(await sizes()))).toBeLessThan(LARGE.bytes), PATIENTLY);
    await next.release();
    await pool.close();
  });

  it('is taken anew where somebody has tidied up', async () => {
    await using scratch = await makeScratch();
    const folder = await scratch.project(PROJECT);
    const pool = poolIn(scratch);
    const old = await pool.snapshot({ folder }, signal);
    await (await pool.lease(old, signal)).release();
    await rm(scratch.folders.root, { recursive: true });
    const copy = await pool.lease(await pool.snapshot({ folder }, signal), signal);
    expect(await readFile(path.join(copy.folder, 'src/c.js'), 'utf8')).toBe('c');
    await copy.release();
    await pool.close();
  });
});

describe('copies', () => {
  it('that are used at once are separate', async () => {
    await using scratch = await makeScratch();
    const pool = poolIn(scratch);
    const snapshot = await pool.snapshot({ folder: await scratch.project(PROJECT) }, signal);
    const three = await Promise.all([1, 2, 3].map(() => pool.lease(snapshot, signal)));
    expect(new Set(three.map(({ folder }) => folder)).size).toBe(3);
    for (const [index, { folder }] of three.entries()) await writeFile(path.join(folder, 'a.js'), `${index}`);
    for (const [index, { folder }] of three.entries()) expect(await readFile(path.join(folder, 'a.js'), 'utf8')).toBe(`${index}`);
    await Promise.all(three.map((copy) => copy.release()));
    await pool.close();
  });

  it('of two workspaces are not taken for each other', async () => {
    await using scratch = await makeScratch();
    const pool = poolIn(scratch, { limit: 2 });
    const folders = await Promise.all(['one', 'two', 'three'].map((name) => scratch.project({ 'a.js': name }, name)));
    for (const folder of [...folders, ...folders]) {
      const copy = await pool.lease(await pool.snapshot({ folder }, signal), signal);
      expect(await readFile(path.join(copy.folder, 'a.js'), 'utf8')).toBe(path.basename(folder));
      await copy.release();
    }
    await pool.close();
  });

  it('wait for one to come back where too many are in use, in their turn', async () => {
    await using scratch = await makeScratch();
    const pool = poolIn(scratch, { limit: 1 });
    const snapshot = await pool.snapshot({ folder: await scratch.project(PROJECT) }, signal);
    const order: number[] = [];
    const leased = async (index: number): Promise<LeasedCopy> => {
      const copy = await pool.lease(snapshot, signal);
      order.push(index);
      return copy;
    };
    const first = await leased(1);
    const second = leased(2);
    const giveUp = new AbortController();
    const third = pool.lease(snapshot, giveUp.signal);
    const fourth = leased(4);
    giveUp.abort();
    await expect(third).rejects.toBe(giveUp.signal.reason);
    expect(order).toEqual([1]);
    await first.release();
    // A second time says nothing new.
    await first.release();
    await (await second).release();
    await (await fourth).release();
    expect(order).toEqual([1, 2, 4]);
    await pool.close();
  });

  it('are one more, up to the limit, once somebody had to wait until one was reset', async () => {
    await using scratch = await makeScratch();
    const copies = (): string[] => readdirSync(scratch.folders.root).filter((run) => existsSync(path.join(scratch.folders.root, run, 'workspace/a.js')));
    const folder = await scratch.project(PROJECT);
    for (const limit of [1, 2]) {
      const pool = poolIn(scratch, { limit });
      const snapshot = await pool.snapshot({ folder }, signal);
      const first = await pool.lease(snapshot, signal);
      await first.release();
      const second = await pool.lease(snapshot, signal);
      expect(second.folder).toBe(first.folder);
      await vi.waitFor(() => expect(copies()).toHaveLength(limit), PATIENTLY);
      const [third] = await Promise.all([limit > 1 ? pool.lease(snapshot, signal) : undefined, second.release()]);
      if (third) expect(await everything(third.folder)).toEqual(await everything(second.folder));
      await third?.release();
      await pool.close();
    }
    expect(copies()).toEqual([]);
  });

  it('that something may still be writing are not given out again', async () => {
    await using scratch = await makeScratch();
    const pool = poolIn(scratch);
    const snapshot = await pool.snapshot({ folder: await scratch.project(PROJECT) }, signal);
    const first = await pool.lease(snapshot, signal);
    await first.release({ reusable: false });
    const second = await pool.lease(snapshot, signal);
    expect(second.folder).not.toBe(first.folder);
    await second.release();
    await pool.close();
  });

  it('are removed when nobody has used them for a while, and those in use are not', async () => {
    await using scratch = await makeScratch();
    const pool = poolIn(scratch, { idleMs: 20 });
    const snapshot = await pool.snapshot({ folder: await scratch.project(PROJECT) }, signal);
    const [used, unused] = await Promise.all([pool.lease(snapshot, signal), pool.lease(snapshot, signal)]);
    await unused.release();
    await vi.waitFor(async () => expect(await readdir(path.dirname(unused.folder)).catch(() => 'gone')).toBe('gone'), PATIENTLY);
    expect(await readdir(used.folder)).toContain('a.js');
    await used.release();
    await vi.waitFor(async () => expect(await readdir(scratch.folders.root)).toEqual([]), PATIENTLY);
    await expect(pool.lease(snapshot, signal)).rejects.toMatchObject({ name: 'WorkspaceCopyError' });
    await (await pool.lease(await pool.snapshot({ folder: path.join(scratch.folder, 'project') }, signal), signal)).release();
    await pool.close();
  });

  it('are gone after closing, those in use when they come back', async () => {
    await using scratch = await makeScratch();
    const pool = poolIn(scratch, { limit: 2 });
    const folder = await scratch.project(PROJECT);
    const snapshot = await pool.snapshot({ folder }, signal);
    const [used, unused] = await Promise.all([pool.lease(snapshot, signal), pool.lease(snapshot, signal)]);
    const [waiting] = await Promise.allSettled([pool.lease(snapshot, signal), unused.release().then(() => pool.lease(snapshot, signal)), pool.close()]);
    expect(waiting.status === 'rejected' || (await waiting.value.release(), true)).toBe(true);
    expect(await readdir(used.folder)).toContain('a.js');
    await used.release();
    await pool.close();
    expect(await readdir(scratch.folders.root)).toEqual([]);
    await expect(pool.snapshot({ folder }, signal)).rejects.toThrow('the backend is ending');
    await expect(pool.lease(snapshot, signal)).rejects.toThrow('the backend is ending');
  });

  it('that are made in advance are abandoned on closing', async () => {
    await using scratch = await makeScratch();
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let wasWritten: boolean | undefined;
    const runFolders = scratch.folders;
    const create = runFolders.create.bind(runFolders);
    const pool = poolIn(scratch);
    const snapshot = await pool.snapshot({ folder: await scratch.project(PROJECT) }, signal);
    const first = await pool.lease(snapshot, signal);
    await first.release();
    vi.spyOn(runFolders, 'create').mockImplementation(async () => {
      const folder = await create();
      const remove = folder.remove.bind(folder);
      vi.spyOn(folder, 'remove').mockImplementation(async () => {
        wasWritten = existsSync(path.join(folder.workspace, 'a.js'));
        await remove();
      });
      asked.resolve();
      await gate.promise;
      return folder;
    });
    const second = await pool.lease(snapshot, signal);
    await asked.promise;
    await second.release();
    const closed = pool.close();
    gate.resolve();
    await closed;
    expect(wasWritten).toBe(false);
  });

  it('of a process that was killed are swept, and not before', async () => {
    await using scratch = await makeScratch();
    const folder = await scratch.project(PROJECT);
    const { root } = scratch.folders;
    const child = spawn(process.execPath, [path.join(import.meta.dirname, 'copy-pool-child.ts'), root, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const folders = new RunFolders(root, isProcessAlive);
    expect(await folders.sweep()).toBe(0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await readdir(root)).length).toBeGreaterThan(2);
    await folders.sweep();
    expect(await readdir(root)).toEqual([]);
  });

  it('are not taken for left over, however long they are kept', async () => {
    await using scratch = await makeScratch();
    const pool = poolIn(scratch);
    const source = { folder: await scratch.project(PROJECT) };
    await (await pool.lease(await pool.snapshot(source, signal), signal)).release();
    const long = new Date('2020-01-01');
    for (const name of await readdir(scratch.folders.root)) await utimes(path.join(scratch.folders.root, name), long, long);
    await (await pool.lease(await pool.snapshot(source, signal), signal)).release();
    for (const name of await readdir(scratch.folders.root))
      expect((await stat(path.join(scratch.folders.root, name))).mtime.getTime()).toBeGreaterThan(long.getTime());
    await pool.close();
  });

  it('cost neither memory nor files nor descriptors, however many there have been', { timeout: 60_000 }, async () => {
    await using scratch = await makeScratch();
    const folder = await scratch.project(PROJECT);
    const pool = poolIn(scratch);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = (): { heap: number; files: number; descriptors: number } => {
      collect();
      return {
        heap: process.memoryUsage().heapUsed,
        files: readdirSync(scratch.folders.root, { recursive: true }).length,
        descriptors: readdirSync(process.platform === 'linux' ? '/proc/self/fd' : '/dev/fd').length,
      };
    };
    const cycles = async (count: number): Promise<void> => {
      for (let cycle = 0; cycle < count; cycle += 1) {
        await writeFile(path.join(folder, 'a.js'), `${cycle}`);
        const copies = await Promise.all([1, 2].map(async () => await pool.lease(await pool.snapshot({ folder }, signal), signal)));
        for (const copy of copies) {
          await mkdir(path.join(copy.folder, 'made/by'), { recursive: true });
          await writeFile(path.join(copy.folder, 'made/by/tests'), 'x');
          await chmod(path.join(copy.folder, 'run.sh'), 0o600);
          await copy.release();
        }
      }
    };
    await cycles(20);
    await pool.lease(await pool.snapshot({ folder }, signal), signal).then((copy) => copy.release());
    const before = used();
    await cycles(100);
    // Used copies are removed in the background, and a busy machine is late with it.
    await vi.waitFor(() => {
      const after = used();
      expect(after.files).toBeLessThanOrEqual(before.files + 6);
      expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
      expect(after.heap - before.heap).toBeLessThan(2 * 1024 * 1024);
    }, PATIENTLY);
    await pool.close();
    expect(await readdir(scratch.folders.root)).toEqual([]);
  });
});
