import { mkdir, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Sandbox } from '../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../backend/verify/verify.ts';
import { makeScratch, processesWith, trySandbox, PATIENTLY } from './setup.ts';

const { available, note } = await trySandbox();

const BROKEN = 'export const last = (list) => list[list.length];\n';
const RIGHT = 'export const last = (list) => list[list.length - 1];\n';
const PROJECT = {
  'package.json': '{ "name": "sample", "type": "module" }',
  'src/list.js': BROKEN,
  'test/list.test.js': `
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import test from 'node:test';
import { last } from '../src/list.js';
writeFileSync('left-behind.txt', 'x'.repeat(10_000));
test('finds the last', () => assert.equal(last([1, 2, 3]), 3));
`,
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const openFiles = async (): Promise<number> => (await readdir('/proc/self/fd')).length;

describe.skipIf(!available)(`many verifications (${note})`, () => {
  it('200 of them, 8 at once, all judge right and leave no process, no file, no open file and no growing memory', async () => {
    await using scratch = await makeScratch();
    const { folders, copies, baseRuns, folder } = scratch;
    const sandbox = new Sandbox({ searchPath: process.env['PATH'] ?? '', homeFolder: homedir(), folders });
    const verifier = new Verifier({ sandbox, folders, copies, baseRuns });
    const base = await scratch.project(PROJECT);
    await mkdir(folder, { recursive: true });
    const round = async (index: number): Promise<void> => {
      const outcomes = await Promise.all(Array.from({ length: 8 }, async (_, place) => {
        // Every wrong patch is another one.
        const after = place === 0 ? RIGHT : `export const last = (list) => list.length + ${100 * index + place};\n`;
        const patch = { edits: [{ path: 'src/list.js', kind: 'modify', before: BROKEN, after }], refused: [] } as const;
        const { signal } = new AbortController();
        return (await verifier.verify({ base, patch, command: 'node --test', signal })).outcome;
      }));
      expect(outcomes).toEqual(['verified', ...new Array<string>(7).fill('failed')]);
    };
    await round(0);
    await round(1);
    const [heap, files] = [heapBytes(), await openFiles()];
    for (let index = 2; index < 25; index += 1) await round(index);
    expect(heapBytes() - heap).toBeLessThan(8 * 2 ** 20);
    expect(await openFiles()).toBeLessThanOrEqual(files + 2);
    await copies.close();
    expect(await readdir(folders.root)).toEqual([]);
    await expect.poll(() => processesWith(folders.root), PATIENTLY).toEqual([]);
  }, 600_000);
});
