import { execFileSync } from 'node:child_process';
import { appendFileSync, lstatSync, mkdirSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { CopyPool, type LeasedCopy } from '../../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';

/*
 * What it costs to look at a workspace and to get a clean copy of it, in milliseconds: how long it takes, how much of that our
 * thread was at work (which tells more on a busy machine), and for how long the event loop was held at most (more than 20 ms would
 * be felt by whoever watches a run).
 *
 * node with-node.mjs node test/bench/verify/copies.ts [--files 500,5000,50000] [--rounds N] [--folder FOLDER] [--no-git]
 */

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '500,5000,50000' },
    rounds: { type: 'string', default: '5' },
    folder: { type: 'string', default: tmpdir() },
    'no-git': { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
/** Files that a run of the tests leaves changed, and as many that it makes. */
const TOUCHED = 20;
const PACKAGES = 400;
/** What was changed more shortly ago is read again, see `COARSEST_CLOCK_NS`. */
const UNTIL_TRUSTED_MS = 2_100;
const SURELY_RESET_MS = 2_000;

interface Measured {
  readonly ms: number;
  readonly threadMs: number;
  readonly longestGapMs: number;
}

const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

async function measured<Result>(work: () => Promise<Result>): Promise<Measured & { readonly result: Result }> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await sleep(5);
  delay.reset();
  const start = performance.now();
  const threadStart = threadMs();
  const result = await work();
  const ms = performance.now() - start;
  const threadSpent = threadMs() - threadStart;
  await sleep(5);
  delay.disable();
  return { ms, threadMs: threadSpent, longestGapMs: delay.max / 1e6, result };
}

/** Medians, with the longest gap of all. */
function median(all: readonly Measured[]): Measured {
  const middle = (figures: readonly number[]): number => figures.toSorted((one, other) => one - other)[figures.length >> 1] ?? NaN;
  return {
    ms: middle(all.map(({ ms }) => ms)),
    threadMs: middle(all.map(({ threadMs }) => threadMs)),
    longestGapMs: Math.max(...all.map(({ longestGapMs }) => longestGapMs)),
  };
}

const together = (one: Measured, other: Measured): Measured => ({
  ms: one.ms + other.ms,
  threadMs: one.threadMs + other.threadMs,
  longestGapMs: Math.max(one.longestGapMs, other.longestGapMs),
});

/** Files of 3 kB in folders of 50, and some installed packages. */
function makeWorkspace(folder: string, count: number): void {
  const text = 'export const value = 1;\n'.repeat(125);
  const fileAt = (index: number): string => {
    const inner = Math.floor(index / 50);
    return `packages/p${Math.floor(inner / 20)}/src/m${inner % 20}/f${index}.ts`;
  };
  for (let index = 0; index < count; index += 1) {
    const file = path.join(folder, fileAt(index));
    if (index % 50 === 0) mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `// ${index}\n${text}`);
  }
  for (let index = 0; index < PACKAGES; index += 1) {
    mkdirSync(path.join(folder, `node_modules/package-${index}`), { recursive: true });
    writeFileSync(path.join(folder, `node_modules/package-${index}/index.js`), '');
  }
  writeFileSync(path.join(folder, 'node_modules/.package-lock.json'), '{}');
  writeFileSync(path.join(folder, '.gitignore'), 'node_modules/\n');
  if (values['no-git']) return;
  const git = (...args: string[]): void => void execFileSync('git', ['-C', folder, ...args], { stdio: 'pipe' });
  git('init', '-q');
  git('add', '.');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.org', 'commit', '-qm', 'first');
}

/** As a run of the tests does: some files changed, some with their times set back, some made. */
function touch(copy: LeasedCopy, paths: readonly string[]): void {
  for (let index = 0; index < TOUCHED; index += 1) {
    const file = path.join(copy.folder, paths[Math.floor((index * paths.length) / TOUCHED)] ?? '');
    const { atime, mtime } = lstatSync(file);
    appendFileSync(file, '// changed\n');
    utimesSync(file, atime, mtime);
    mkdirSync(path.join(copy.folder, `made-${index}`));
    writeFileSync(path.join(copy.folder, `made-${index}/file`), '');
  }
  unlinkSync(path.join(copy.folder, paths[1] ?? ''));
}

async function bench(count: number): Promise<void> {
  const folder = await realpath(await mkdtemp(path.join(values.folder, 'bench-copies-')));
  const folders = new RunFolders(path.join(folder, 'runs'), isProcessAlive);
  const pool = new CopyPool({ folders });
  const { signal } = new AbortController();
  const rows: Record<string, Measured> = {};
  try {
    const workspace = path.join(folder, 'workspace');
    makeWorkspace(workspace, count);
    await sleep(UNTIL_TRUSTED_MS);
    const source = { folder: workspace };

    const first = await measured(() => pool.snapshot(source, signal));
    const firstLease = await measured(() => pool.lease(first.result, signal));
    rows['snapshot, first'] = first;
    rows['lease, first'] = firstLease;
    rows['first prepared'] = together(first, firstLease);
    await firstLease.result.release();

    const paths = [...first.result.paths];
    const times: Record<string, Measured[]> = {};
    const note = <Result>(name: string, found: Measured & { readonly result: Result }): Result => {
      (times[name] ??= []).push(found);
      return found.result;
    };
    for (let round = 0; round < rounds; round += 1) {
      note('snapshot, nothing changed', await measured(() => pool.snapshot(source, signal)));
      const unused = note('lease, nothing changed', await measured(() => pool.lease(first.result, signal)));
      touch(unused, paths);
      await unused.release();
      // The next one is asked for at once, before the copy could be reset behind anybody's back.
      const touched = note(`lease, ${TOUCHED} files touched`, await measured(() => pool.lease(first.result, signal)));
      touch(touched, paths);
      await touched.release();
      await sleep(SURELY_RESET_MS);
      await note(`lease, ${TOUCHED} touched earlier`, await measured(() => pool.lease(first.result, signal))).release();
      const edited = path.join(workspace, paths[round] ?? '');
      appendFileSync(edited, '// edited\n');
      const next = note('snapshot, one file edited', await measured(() => pool.snapshot(source, signal)));
      await note('lease, one file edited', await measured(() => pool.lease(next, signal))).release();
    }
    const four = note('4 leases at once', await measured(() => Promise.all([1, 2, 3, 4].map(() => pool.lease(first.result, signal)))));
    await Promise.all(four.map((copy) => copy.release()));
    const again = note('4 leases at once, again', await measured(() => Promise.all([1, 2, 3, 4].map(() => pool.lease(first.result, signal)))));
    await Promise.all(again.map((copy) => copy.release()));
    for (const [name, all] of Object.entries(times)) rows[name] = median(all);
    rows['close'] = await measured(() => pool.close());
  } finally {
    await pool.close();
    await rm(folder, { recursive: true, force: true });
  }
  print(`${count} files${values['no-git'] ? ', without Git' : ''}`, rows);
}

function print(title: string, rows: Readonly<Record<string, Measured>>): void {
  console.log(`\n${title}`.padEnd(33), 'ms'.padStart(8), 'our thread'.padStart(12), 'longest gap'.padStart(12));
  for (const [name, { ms, threadMs, longestGapMs }] of Object.entries(rows)) {
    const figures = [ms.toFixed(1).padStart(8), threadMs.toFixed(1).padStart(12), longestGapMs.toFixed(1).padStart(12)];
    console.log(`  ${name.padEnd(30)}`, ...figures);
  }
}

console.log(`${cpus()[0]?.model.trim()}, ${cpus().length} cores; load ${loadavg()[0]?.toFixed(1)}; Node ${process.version}`);
for (const count of values.files.split(',')) await bench(Number(count));
