import { execFileSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTestCommand } from '../../../backend/verify/runners/find-tests.ts';
import { tryProgram } from '../runners/setup.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { expectVerified, judgeFix, TIMEOUT_MS, type HonestFix, type Machine } from './setup.ts';

const { available, note } = await trySandbox();
const hasGit = tryProgram('git', '--version').isHere;

const git = (folder: string, ...words: string[]): void =>
  void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: folder, stdio: 'ignore' });
const commit = (folder: string): void => {
  git(folder, 'init', '-q');
  git(folder, 'add', '-A');
  git(folder, 'commit', '-qm', 'all');
};

const HALF: HonestFix = {
  files: {
    'package.json': '{"type":"module","scripts":{"test":"node --test"}}',
    'src/half.js': 'export const half = (number) => number / 3;\n',
    'test/half.test.js': `
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { half } from '../src/half.js';
test('half', () => assert.equal(half(4), 2));
test('data', () => assert.equal(readFileSync(new URL('../data.txt', import.meta.url), 'utf8').trim(), 'data'));
`,
    'data.txt': 'data\n',
  },
  fix: { 'src/half.js': ['/ 3', '/ 2'] },
  command: 'node --test',
  mended: ['test/half.test.js > half'],
};
const CRLF: HonestFix = {
  ...HALF,
  files: Object.fromEntries(Object.entries(HALF.files).map(([file, text]) => [file, String(text).replaceAll('\n', '\r\n')])),
};
const UNICODE: HonestFix = {
  ...HALF,
  files: {
    ...HALF.files,
    'src/größe – ½.js': 'export const half = (number) => number / 3;\n',
    'test/größe.test.js': "import { test } from 'node:test';\nimport { half } from '../src/größe – ½.js';\ntest('日本 ✓', () => { if (half(8) !== 4) throw new Error('ü'); });\n",
    'src/half.js': 'export const half = (number) => number / 2;\n',
  },
  fix: { 'src/größe – ½.js': ['/ 3', '/ 2'] },
  mended: ['test/größe.test.js > 日本 ✓'],
};

const CASES: Record<string, readonly [HonestFix, Machine]> = {
  'no repository of Git at all': [HALF, {}],
  'a repository of its own, with ignored files and a change that is not committed': [
    { ...HALF, files: { ...HALF.files, '.gitignore': 'out/\n*.log\n', 'out/old.js': 'x', 'a.log': 'x' } },
    { before: commit },
  ],
  'a folder of a larger repository': [
    HALF,
    { name: 'repository/packages/half', before: (folder) => commit(path.resolve(folder, '../..')) },
  ],
  'a folder that the repository around it ignores': [
    HALF,
    {
      name: 'repository/ignored/half',
      before: (folder) => {
        execFileSync('sh', ['-c', 'echo ignored > .gitignore'], { cwd: path.resolve(folder, '../..') });
        commit(path.resolve(folder, '../..'));
      },
    },
  ],
  'a name with spaces, quotes and signs of the shell': [HALF, { name: `it's "my" $project (ü) & co` }],
  'Windows line ends': [CRLF, { before: commit }],
  'file names beyond ASCII, which Git quotes': [UNICODE, { before: commit }],
  'files that may not be written and a folder of the source that is a link': [
    {
      ...HALF,
      files: { ...HALF.files, 'lib/half.js': HALF.files['src/half.js'] ?? '', 'src/half.js': { link: '../lib/half.js' } },
      fix: { 'lib/half.js': ['/ 3', '/ 2'] },
    },
    { before: (folder) => chmod(path.join(folder, 'lib/half.js'), 0o444) },
  ],
};

describe.skipIf(!available || !hasGit)(`an honest fix is verified in a workspace with (${note})`, { timeout: TIMEOUT_MS }, () => {
  it.each(Object.entries(CASES))('%s', async (_, [honest, machine]) => {
    await using scratch = await makeScratch();
    let workspace = '';
    const before = async (folder: string): Promise<void> => {
      workspace = folder;
      await machine.before?.(folder);
    };
    expectVerified(await judgeFix(scratch, honest, { ...machine, before }), honest);
    expect((await findTestCommand(workspace))?.command).toBe(honest.command);
  });
});
