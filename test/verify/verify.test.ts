import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parsePatch } from '../../backend/verify/parse-patch.ts';
import type { Verdict } from '../../backend/verify/verdict.ts';
import { makeScratch, trySandbox, type Scratch } from './setup.ts';

const { available, note } = await trySandbox();

/** A small library with one bug (an off-by-one in \`last\`), a test that shows it, and tests that pass. */
const PROJECT = {
  'package.json': JSON.stringify({ name: 'sample', type: 'module', scripts: { test: 'node --test' } }),
  'src/list.js': 'export const first = (list) => list[0];\nexport const last = (list) => list[list.length];\n',
  'test/list.test.js': `
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { first, last } from '../src/list.js';
describe('list', () => {
  it('finds the first', () => assert.equal(first([1, 2, 3]), 1));
  it('finds the last', () => assert.equal(last([1, 2, 3]), 3));
  it('finds nothing in nothing', () => assert.equal(first([]), undefined));
});
`,
};
const FIX = 'export const first = (list) => list[0];\nexport const last = (list) => list[list.length - 1];\n';

const block = (file: string, content: string): string => `**${file}**\n\`\`\`js\n${content}\n\`\`\`\n`;

async function judge(scratch: Scratch, answer: string, files: Parameters<Scratch['project']>[0] = PROJECT): Promise<Verdict> {
  const base = await scratch.project(files);
  const patch = await parsePatch(answer, base);
  return await scratch.verifier.verify({
    base,
    patch,
    command: 'node --test',
    signal: new AbortController().signal,
    timeoutMs: 60_000,
  });
}

const statuses = (verdict: Verdict): Record<string, string> =>
  Object.fromEntries(verdict.tests.map(({ id, before, after }) => [id.split(' > ').at(-1), `${before} → ${after}`]));

describe.skipIf(!available)(`a verdict (${note})`, () => {
  it('verifies an honest fix and tells mended tests from kept ones', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, block('src/list.js', FIX));
    expect(verdict).toMatchObject({ verified: true, outcome: 'verified', score: 1, sandboxed: true, command: 'node --test' });
    expect(verdict.tests.map(({ id }) => id)).toContain('test/list.test.js > list > finds the last');
    expect(statuses(verdict)).toEqual({
      'finds the first': 'passed → passed',
      'finds the last': 'failed → passed',
      'finds nothing in nothing': 'passed → passed',
    });
    expect(await readdir(scratch.folders.root)).toEqual([]);
  });
});
