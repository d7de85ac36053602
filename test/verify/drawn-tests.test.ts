import { expect, it } from 'vitest';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { Verifier } from '../../backend/verify/verify.ts';
import { makeScratch, trySandbox } from './setup.ts';

const { available, note } = await trySandbox();

const BUG = 'export const last = (list) => list[list.length];\nexport const double = (number) => number * 2;\n';
const FIX = BUG.replace('list.length]', 'list.length - 1]');
const testsWith = (more: string): string => `import assert from 'node:assert/strict';
import { it } from 'node:test';
import { last, double } from '../src/list.js';
it('has a last', () => { assert.equal(last([1, 2]), 2); });
${more}
`;

it.skipIf(!available).for([
  ['a table of a few rows', 'for (let row = 0; row < 12; row += 1) it(`doubles, ${row}`, () => { assert.equal(double(21), 42); });'],
  ['a table of more rows than are drawn', 'for (let row = 0; row < 60; row += 1) it(`doubles, ${row}`, () => { assert.equal(double(21), 42); });'],
  ['a test that declares others', "it('has parts', async (t) => { assert.equal(double(3), 6); await t.test('one', () => { assert.equal(double(4), 8); }); await t.test('two', () => { assert.equal(double(5), 10); }); });"],
] as const)(`a fix costs two runs and the control beyond its base, with %s (${note})`, { timeout: 120_000 }, async ([, more]) => {
  await using scratch = await makeScratch();
  const base = await scratch.project({ 'package.json': '{"type":"module"}', 'src/list.js': BUG, 'test/list.test.js': testsWith(more) });
  let runs = 0;
  const verifier = new Verifier({
    ...scratch,
    sandbox: {
      pinnedImage: (image) => scratch.sandbox.pinnedImage(image),
      run: (given) => {
        if (given.command.includes('--test')) runs += 1;
        return scratch.sandbox.run(given);
      },
    },
  });
  const patch = await parsePatch(`\`\`\` title="src/list.js"\n${FIX}\`\`\`\n`, base);
  const verdict = await verifier.verify({ base, patch, command: 'node --test', signal: new AbortController().signal, timeoutMs: 60_000 });
  expect(verdict, verdict.reason).toMatchObject({ outcome: 'verified' });
  expect(runs).toBe(5);
});
