/*
 * What a verification costs beyond the time of the tests themselves: copies, sandboxes, reports.
 *
 *   node with-node.mjs node test/bench/verify/overhead.ts [files] [rounds]
 *
 * A project of so many files (5,000 if absent) with tests of `node --test`; base is remembered and the copies are warm, as for every
 * verification of a workspace but the first. Beside it the same command by itself, as often and as many at once as the verification runs it:
 * a wrong patch once; a right one once, then again and under the negative control side by side. Medians of so many rounds (9).
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { userPath } from '../../../backend/common/user-path.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { MemoryBaseRunCache } from '../../../backend/verify/judge/base-run-cache.ts';
import { CopyPool } from '../../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../../backend/verify/verify.ts';

const [files = 5_000, rounds = 9] = process.argv.slice(2).map(Number);
const AT_ONCE = [1, 4, 8];
const COMMAND = 'node --test';

const BROKEN = 'export const last = (list) => list[list.length];\n';
const PATCHES = {
  'a wrong patch': 'export const last = (list) => list[list.length - 2];\n',
  'a right patch': 'export const last = (list) => list[list.length - 1];\n',
};

const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'verify-bench-')));
try {
  const base = path.join(folder, 'project');
  await makeProject(base, BROKEN);
  const right = path.join(folder, 'right');
  // As large: Node looks through all of it for tests.
  await makeProject(right, PATCHES['a right patch']);
  const folders = new RunFolders(path.join(folder, 'runs'), isProcessAlive);
  const copies = new CopyPool({ folders });
  const sandbox = new Sandbox({ searchPath: userPath(process.env), homeFolder: homedir(), folders });
  const verifier = new Verifier({ sandbox, folders, copies, baseRuns: new MemoryBaseRunCache() });
  const verify = async (after: string): Promise<string> => {
    const patch = { edits: [{ path: 'src/list.js', kind: 'modify', before: BROKEN, after }], refused: [] } as const;
    return (await verifier.verify({ base, patch, command: COMMAND, signal: new AbortController().signal })).outcome;
  };
  const bare = (): Promise<unknown> => promisify(execFile)('/bin/sh', ['-c', COMMAND], { cwd: right });

  console.log(`${files} files, medians of ${rounds} rounds, milliseconds a verification`);
  console.log('at once  patch          tests alone  verification  beyond');
  for (const atOnce of AT_ONCE) {
    for (const [name, after] of Object.entries(PATCHES)) {
      const isRight = name === 'a right patch';
      const alone: number[] = [];
      const verified: number[] = [];
      // One round warms up.
      for (let round = -1; round < rounds; round += 1) {
        const bareMs = await timed(atOnce, async () => {
          await bare();
          if (isRight) await Promise.all([bare(), bare()]);
        });
        const verifyMs = await timed(atOnce, async () => {
          const outcome = await verify(after);
          if (outcome !== (isRight ? 'verified' : 'failed')) throw new Error(`${name}: ${outcome}`);
        });
        if (round < 0) continue;
        alone.push(bareMs);
        verified.push(verifyMs);
      }
      const [tests, whole] = [median(alone), median(verified)];
      console.log(`${String(atOnce).padEnd(9)}${name.padEnd(15)}${tests.toFixed(0).padStart(11)}${whole.toFixed(0).padStart(14)}${(whole - tests).toFixed(0).padStart(8)}`);
    }
  }
  await copies.close();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Milliseconds for each of so many at once. */
async function timed(atOnce: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await Promise.all(Array.from({ length: atOnce }, work));
  return (performance.now() - started) / atOnce;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number;
}

async function makeProject(root: string, source: string): Promise<void> {
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  };
  await write('package.json', '{ "name": "sample", "type": "module" }');
  await write('src/list.js', source);
  await write('test/list.test.js', `
import assert from 'node:assert/strict';
import test from 'node:test';
import { last } from '../src/list.js';
test('finds the last', () => assert.equal(last([1, 2, 3]), 3));
`);
  for (let index = 0; index < files; index += 1) {
    await write(`lib/part-${index % 100}/file-${index}.js`, `// ${index}\n${'export const filler = 1;\n'.repeat(40)}`);
  }
  const git = (...args: string[]): Promise<unknown> => promisify(execFile)('git', ['-C', root, ...args]);
  await git('init', '-q');
  await git('add', '-A');
  await git('-c', 'user.name=bench', '-c', 'user.email=bench@example.com', 'commit', '-qm', 'Begin');
}
