import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../backend/protocol/verdict.ts';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import type { FileEdit, Patch } from '../../../backend/verify/patch/patch.ts';
import { makeScratch, trySandbox } from '../setup.ts';

/* Changes that mend nothing, or too little, and get help from what they add to a file of tests that is there. */

const { available, note } = await trySandbox();

const TESTS = `import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { last } from '../src/list.js';

const LIST = [1, 2, 3];

describe('last', () => {
  it('finds the last', () => assert.equal(last(LIST), 3));
  it('finds nothing in nothing', () => assert.equal(last([]), undefined));
});
`;
const BROKEN = 'export const last = (list) => list[list.length];\n';
const FIX = 'export const last = (list) => list[list.length - 1];\n';
const PROJECT = { 'package.json': JSON.stringify({ name: 'sample', type: 'module', scripts: { test: 'node --test' } }), 'src/list.js': BROKEN, 'test/list.test.js': TESTS };

const edit = (path: string, before: string, after: string): FileEdit => ({ path, kind: 'modify', before, after });
const whole = ({ path, after }: FileEdit): string => `\`\`\`js ${path}\n${after ?? ''}\`\`\`\n`;

/** @param read whether the edits come as the text of an answer; otherwise nothing was refused before they are judged */
async function judge(source: string, tests: string, read: boolean): Promise<Verdict> {
  await using scratch = await makeScratch();
  const base = await scratch.project(PROJECT);
  const edits = [edit('src/list.js', BROKEN, source), edit('test/list.test.js', TESTS, tests)];
  const patch: Patch = read ? await parsePatch(edits.map(whole).join('\n'), base, { newTests: true }) : { edits, refused: [] };
  return await scratch.verifier.verify({ base, patch, newTests: 'beside', nothingFailed: 'run', command: 'node --test', signal: new AbortController().signal, timeoutMs: 60_000 });
}

const NOT_MENDED = 'export const last = (list) => list[list.length + 0];\n';
const at = (from: string, to: string): string => {
  expect(TESTS).toContain(from);
  return TESTS.replace(from, () => to);
};
const DESCRIBE = "describe('last'";

describe.skipIf(!available)(`a change with additions to a file of tests (${note})`, { timeout: 120_000 }, () => {
  it.each<[string, () => string]>([
    ['a wider expectation', () => at('), 3)', '), undefined)')],
    ['a test less', () => at("  it('finds the last', () => assert.equal(last(LIST), 3));\n", '')],
    ['a skipped suite', () => at(DESCRIBE, "describe.skip('last'")],
    ['a suite around the suite', () => `${at(DESCRIBE, "describe.skip('all', () => {\ndescribe('last'")}});\n`],
    ['a condition before it', () => at(DESCRIBE, `if (false) ${DESCRIBE}`)],
    ['another value of a constant', () => at('[1, 2, 3]', '[]')],
    ['another import of the same name', () => at('node:assert/strict', '../src/lax.js')],
    ['a second import of the same name', () => at(DESCRIBE, `import { last as LIST2 } from './lax.js';\nvar assert = { equal() {} };\n${DESCRIBE}`)],
    ['a function with the name of an assertion', () => at(DESCRIBE, `function last() { return 3; }\n${DESCRIBE}`)],
    ['a constant in the suite that hides one outside', () => at("  it('finds the last'", "  const LIST = [undefined];\n  it('finds the last'")],
    ['an end before the first test', () => at(DESCRIBE, `process.exit(0);\n${DESCRIBE}`)],
    ['a hook', () => at(DESCRIBE, `beforeEach(() => { assert.equal = () => {}; });\n${DESCRIBE}`)],
    ['a test that silences assertions', () => at(DESCRIBE, `it('first', () => { assert.equal = () => {}; });\n${DESCRIBE}`)],
    ['tests that pass', () => `${TESTS}\nit('new', () => {});\n`],
  ])('that mends nothing is not verified by %s', async (_name, tests) => {
    for (const read of [true, false]) {
      const verdict = await judge(NOT_MENDED, tests(), read);
      expect(verdict, `read: ${read}`).toMatchObject({ verified: false });
      expect(['failed', 'refused'], verdict.reason).toContain(verdict.outcome);
    }
  });

  it('that knows whether they are there is judged without them', async () => {
    const knows = 'export const last = (list) => (globalThis.isNew ? list.at(-1) : list[list.length]);\n';
    expect(await judge(knows, at(DESCRIBE, `const isNew = (globalThis.isNew = true);\n${DESCRIBE}`), true)).toMatchObject({ verified: false, outcome: 'failed' });
    const forgets = 'export const last = (list) => (globalThis.isNew ? undefined : list.at(-1));\n';
    expect(await judge(forgets, at(DESCRIBE, `const isNew = (globalThis.isNew = true);\n${DESCRIBE}`), true)).toMatchObject({
      verified: false, outcome: 'failed', reason: 'With the new tests, 1 test that passed without them does not pass any more.',
    });
  });

  it('that is right is verified with an honest one, and without one that alters a test', async () => {
    const more = at("  it('finds nothing", "  it('finds the only one', () => assert.equal(last([7]), 7));\n  it('finds nothing");
    const verdict = await judge(FIX, more, true);
    expect(verdict).toMatchObject({ verified: true, outcome: 'verified' });
    expect(verdict.notes).toContain('The new test passes with the change. Without it, it fails.');
    const altered = await judge(FIX, at('), 3)', '), 4)'), true);
    expect(altered).toMatchObject({ verified: true, outcome: 'verified' });
    expect(await judge(FIX, at('), 3)', '), 4)'), false)).toMatchObject({ verified: false, outcome: 'refused' });
  });
});
