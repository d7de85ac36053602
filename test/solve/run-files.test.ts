import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { CopyPool } from '../../backend/verify/copies/copy-pool.ts';
import { HeldFiles } from '../../backend/verify/copies/held-files.ts';
import { applyPatch } from '../../backend/verify/patch/apply-patch.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { makeScratch, type Scratch } from '../verify/setup.ts';
import { drivenRun, NO_TESTS, ONE_STEP } from './driven-run.ts';

/* A person goes on working while a run is under way: what it reads, changes and judges is what it began with. */

const { signal } = new AbortController();
const FILES = { 'package.json': '{"type": "module"}', 'src/a.js': 'export const a = 1;\n', 'test/a.test.js': 'asks for 2' };
const ANSWER = '```diff\n--- a/src/a.js\n+++ b/src/a.js\n@@ -1 +1 @@\n-export const a = 1;\n+export const a = 2;\n```';

const red: Verdict = {
  verified: false, score: 0, outcome: 'failed', reason: 'Of 1 test that failed before, 1 still did not pass.', notes: [], command: 'node --test', sandboxed: true, durationMs: 1,
  tests: [{ id: 'test/a.test.js > a', before: 'failed', after: 'failed' }],
};

/** A checker whose verdict is red, and which keeps what it was asked to judge: the files with the patch. */
function judging(scratch: Scratch, judged: string[]): Checker {
  return {
    ...NO_TESTS,
    hold: (folder) => HeldFiles.of(scratch.copies, { folder }, signal),
    parsePatch: (answer, folder, candidates) => parsePatch(answer, folder, { candidates }),
    verify: async ({ base, held, patch }) => {
      const copy = await scratch.copies.lease(held?.snapshot ?? (await scratch.copies.snapshot({ folder: base }, signal)), signal);
      await applyPatch(copy.folder, patch);
      judged.push(await textIn(copy.folder));
      await copy.release();
      return red;
    },
  };
}

const textIn = async (folder: string): Promise<string> =>
  (await Promise.all(['src/a.js', 'test/a.test.js'].map((file) => readFile(path.join(folder, file), 'utf8')))).join('');

describe('the files of a run', () => {
  it('are what they were when it began, whatever is edited between plan, verdict and rounds', async () => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project(FILES);
    const edit = async (text: string): Promise<void> => {
      await writeFile(path.join(workspace, 'src/a.js'), text);
      await writeFile(path.join(workspace, 'test/a.test.js'), `asks for ${text}`);
    };
    const judged: string[] = [];
    const gathered: string[] = [];
    const run = await drivenRun([
      async () => {
        await edit('export const a = 7; // while it was planned\n');
        return ONE_STEP;
      },
      ANSWER,
      async () => {
        await edit('export const b = 8; // between rounds\n');
        return ONE_STEP;
      },
      async () => {
        await rm(path.join(workspace, 'test/a.test.js'));
        return ANSWER;
      },
    ], { workspace, testCommand: 'node --test', rounds: 2 });
    const ended = await run.drive({
      checker: judging(scratch, judged),
      gatherContext: async ({ workspace: folder = '' }) => {
        const text = await textIn(folder);
        gathered.push(text);
        return { pieces: [{ path: 'src/a.js', startLine: 1, endLine: 1, reason: 'named', tokens: 1 }], leftOut: [], tokens: 1, text };
      },
    });
    expect(ended).toMatchObject({ state: 'completed', outcome: 'not-verified' });
    expect(judged).toEqual(['export const a = 2;\nasks for 2', 'export const a = 2;\nasks for 2']);
    expect(ended.contexts.map(({ text }) => text)).toEqual(ended.contexts.map(() => 'export const a = 1;\nasks for 2'));
    expect(ended.rounds.map(({ answer }) => answer?.edits.length)).toEqual([1, 1]);
  });

  it('are read in place, and nothing is copied, as long as nothing changes', async () => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project(FILES);
    const held = await HeldFiles.of(scratch.copies, { folder: workspace }, signal);
    expect(await held.read(async (folder) => folder, signal)).toBe(workspace);
    await writeFile(path.join(workspace, 'src/new.js'), 'new');
    expect(await held.read(async (folder) => folder, signal)).not.toBe(workspace);
    await rm(path.join(workspace, 'src/new.js'));
    held.letGo();
  });

  it('are read again where they change while they are read', async () => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project(FILES);
    const held = await HeldFiles.of(scratch.copies, { folder: workspace }, signal);
    const texts: string[] = [];
    await held.read(async (folder) => {
      if (texts.length === 0) await writeFile(path.join(workspace, 'src/a.js'), 'changed');
      texts.push(await readFile(path.join(folder, 'src/a.js'), 'utf8'));
    }, signal);
    expect(texts).toEqual(['changed', FILES['src/a.js']]);
    await expect(held.read(() => Promise.reject(new Error('of its own')), signal)).rejects.toThrow('of its own');
    held.letGo();
  });

  it('outlive the time after which unused contents are removed', async () => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project(FILES);
    const pool = new CopyPool({ folders: scratch.folders, idleMs: 20 });
    const held = await HeldFiles.of(pool, { folder: workspace }, signal);
    await writeFile(path.join(workspace, 'src/a.js'), 'changed');
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(await held.read((folder) => readFile(path.join(folder, 'src/a.js'), 'utf8'), signal)).toBe(FILES['src/a.js']);
    held.letGo();
    await pool.close();
  });
});
