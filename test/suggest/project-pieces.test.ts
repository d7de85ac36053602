import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { beforeEach, describe, expect, it } from 'vitest';
import { SymbolIndexes } from '../../backend/context/symbols/symbol-indexes.ts';
import { tokensOf } from '../../backend/context/tokens.ts';
import { MAX_PIECE_TOKENS, ProjectPieces, type PiecesRequest } from '../../backend/suggest/project-pieces.ts';
import { SendableFiles } from '../../backend/suggest/sendable-files.ts';
import type { GapPiece } from '../../backend/workers/model.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/* What of a project is shown with a suggestion, read from real files with real ripgrep. */

const KEY = 'sk-proj-4f9aK2mQ7xLw8Zr1Tn5Vb3Hy6Jd0Pc';

let folder: string;
let pieces: ProjectPieces;

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
  await writeFile(path.join(folder, file), text);
}

beforeEach(async () => {
  folder = await temporaryFolder();
  const log = (line: string): never => expect.fail(line);
  pieces = new ProjectPieces({ files: new SendableFiles({ ripgrepPath: rgPath }), indexes: new SymbolIndexes(), log });
});

async function shown(file: string, before: string, more: Partial<PiecesRequest> = {}): Promise<readonly GapPiece[]> {
  await pieces.warmUp(folder);
  return pieces.of({ workspace: folder, path: path.join(folder, file), before, after: '\n', openFiles: [], edits: [], ...more });
}
const textOf = (all: readonly GapPiece[]): string => all.map(({ path: file, text }) => `${file}\n${text}\n`).join('');

describe('definitions', () => {
  it.each([
    ['TypeScript', 'src/a.ts', "import { total } from './b.js';\n\nexport const sum = ", 'src/b.ts',
      'export function total(prices: number[], tax = 0.19): number {\n  return 0;\n}\n', 'export function total(prices: number[], tax = 0.19): number'],
    ['JavaScript', 'lib/a.js', "const { total } = require('./b');\n\nconst sum = ", 'lib/b.js',
      'exports.total = function (prices, tax) {\n  return 0;\n};\n', 'exports.total = function (prices, tax)'],
    ['Python', 'shop/a.py', 'from .b import total\n\nsum = ', 'shop/b.py', 'def total(prices, tax=0.19):\n    return 0\n', 'def total(prices, tax=0.19)'],
    ['Go', 'shop/a.go', 'package shop\n\nfunc sum() int {\n\t', 'shop/b.go',
      'package shop\n\nfunc Total(prices []int, tax float64) int {\n\treturn 0\n}\n', 'func Total(prices []int, tax float64) int'],
    ['Rust', 'src/a.rs', 'use crate::b::total;\n\nfn sum() -> i64 {\n    ', 'src/b.rs',
      'pub fn total(prices: &[i64], tax: f64) -> i64 {\n    0\n}\n', 'pub fn total(prices: &[i64], tax: f64) -> i64'],
    ['Java', 'shop/A.java', 'package shop;\n\nclass A {\n  B b;\n  int sum() {\n    ', 'shop/B.java',
      'package shop;\n\nclass B {\n  int total(int[] prices, double tax) {\n    return 0;\n  }\n}\n', 'int total(int[] prices, double tax)'],
  ])('of another file are shown where %s code may need them', async (_language, file, before, other, text, signature) => {
    await write(file, before);
    await write(other, text);
    expect(textOf(await shown(file, before))).toContain(`${other}\n`);
    expect(textOf(await shown(file, before))).toContain(signature);
  });

  it('stand under their class, without their bodies', async () => {
    await write('a.ts', '');
    await write('cart.ts', 'export class Cart {\n  add(item: Item): void {\n    this.items.push(item);\n  }\n}\n');
    const [piece] = await shown('a.ts', "import { Cart } from './cart.js';\nconst cart = new Cart();\n");
    expect(piece).toEqual({ path: 'cart.ts', text: 'export class Cart\n    add(item: Item): void' });
  });

  it('of the file itself are not shown: their text is', async () => {
    await write('a.ts', 'export function own(): void {\n}\n');
    expect(await shown('a.ts', 'export function own(): void {\n}\nown')).toEqual([]);
  });

  it('are found by an import that is not saved yet', async () => {
    await write('a.ts', '');
    await write('deep/b.ts', 'export function total(): number {\n  return 0;\n}\n');
    await write('c.ts', 'export function unrelated(): number {\n  return 0;\n}\n');
    const text = textOf(await shown('a.ts', "import { total } from './deep/b.js';\nconst sum = "));
    expect(text).toContain('export function total(): number');
    expect(text).not.toContain('unrelated');
  });

  it('of ignored and secret files are never shown', async () => {
    await write('.gitignore', 'hidden/\n');
    await write('.conductorignore', 'private.ts\n');
    const before = "import { one } from './hidden/b.js';\nimport { two } from './private.js';\nimport { three } from './.aws/c.js';\n";
    await write('a.ts', before);
    await write('hidden/b.ts', 'export function one(): void {\n}\n');
    await write('private.ts', 'export function two(): void {\n}\n');
    await write('.aws/c.ts', 'export function three(): void {\n}\n');
    expect(await shown('a.ts', before)).toEqual([]);
  });

  it('that hold a secret are left out', async () => {
    await write('a.ts', '');
    await write('b.ts', `export function connect(key = '${KEY}'): void {\n}\n`);
    const text = textOf(await shown('a.ts', "import { connect } from './b.js';\n"));
    expect(text).not.toContain(KEY);
  });

  it('that are gone since are shown no more', async () => {
    await write('a.ts', '');
    await write('b.ts', 'export function total(): number {\n  return 0;\n}\n');
    const before = "import { total } from './b.js';\n";
    expect(textOf(await shown('a.ts', before))).toContain('total(): number');
    await write('b.ts', 'export function total(tax: number): number {\n  return tax;\n}\n');
    pieces = new ProjectPieces({ files: new SendableFiles({ ripgrepPath: rgPath }), indexes: new SymbolIndexes(), log: () => {} });
    expect(textOf(await shown('a.ts', `${before}\n`))).toContain('total(tax: number): number');
  });
});

describe('open files', () => {
  const similar = (name: string): string =>
    ['name', 'price', 'weight', 'colour', 'shelf'].map((field) => `  check(${name}.${field}, readSetting('${field}'), describeProblem);`).join('\n');

  it('are shown where they look like what is being written, and only there', async () => {
    await write('a.ts', '');
    await write('like.ts', `${similar('table')}\n`);
    await write('other.ts', Array.from({ length: 30 }, (_, index) => `export const value${index} = compute${index}();`).join('\n'));
    const all = await shown('a.ts', `${similar('chair')}\n`, { openFiles: ['like.ts', 'other.ts'].map((file) => path.join(folder, file)) });
    expect(all).toEqual([{ path: 'like.ts', text: similar('table') }]);
  });

  it('are not shown if they are ignored, secret or outside', async () => {
    await write('.gitignore', 'like.ts\n');
    await write('a.ts', '');
    const outside = path.join(await temporaryFolder(), 'like.ts');
    for (const file of ['like.ts', '.env', '.ssh/like.ts']) await write(file, `${similar('table')}\n`);
    await writeFile(outside, `${similar('table')}\n`);
    const openFiles = ['like.ts', '.env', '.ssh/like.ts'].map((file) => path.join(folder, file));
    expect(await shown('a.ts', `${similar('chair')}\n`, { openFiles: [...openFiles, outside] })).toEqual([]);
  });

  it('are shown without their secrets', async () => {
    await write('a.ts', '');
    await write('like.ts', `${similar('table')}\nconst key = '${KEY}';\n`);
    const text = textOf(await shown('a.ts', `${similar('chair')}\n`, { openFiles: [path.join(folder, 'like.ts')] }));
    expect(text).toContain('table.price');
    expect(text).not.toContain(KEY);
  });
});

describe('edits', () => {
  const edit = (file: string, before: string, after: string, line = 0): PiecesRequest['edits'][number] => ({ path: path.join(folder, file), line, before, after });

  it('are shown as a diff, the newest last', async () => {
    for (const file of ['a.ts', 'b.ts', 'c.ts']) await write(file, 'x\n'.repeat(9));
    const edits = [edit('b.ts', 'const price = 1;', 'const cost = 1;', 4), edit('c.ts', 'print(price);', 'print(cost);')];
    expect(await shown('a.ts', 'x', { edits })).toEqual([{
      path: 'recent-edits.diff',
      text: '--- a/b.ts\n+++ b/b.ts\n@@ -5 +5 @@\n-const price = 1;\n+const cost = 1;\n--- a/c.ts\n+++ b/c.ts\n@@ -1 +1 @@\n-print(price);\n+print(cost);',
    }]);
  });

  it.each([
    ['of an ignored file', 'ignored.ts', 'a', 'b'], ['of a secret file', '.env', 'A=1', 'A=2'], ['outside', '../outside.ts', 'a', 'b'],
    ['that show a key', 'b.ts', `key = '${KEY}'`, 'key = read()'], ['that write a key', 'b.ts', 'key', `key = '${KEY}'`],
    ['inside a private key', 'b.ts', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj', ''],
    ['of space alone', 'b.ts', 'a( b )', '  a(b)'],
  ])('%s are not shown', async (_which, file, before, after) => {
    await write('.gitignore', 'ignored.ts\n');
    for (const one of ['a.ts', 'b.ts', 'ignored.ts', '.env']) await write(one, 'x\n'.repeat(9));
    expect(await shown('a.ts', 'x', { edits: [edit(file, before, after)] })).toEqual([]);
  });
});

describe('all pieces', () => {
  /** A project with more definitions than fit. */
  async function writeMany(): Promise<string> {
    const names = Array.from({ length: 300 }, (_, index) => `computeValueNumber${index}`);
    await write('many.ts', names.map((name) => `export function ${name}(first: string, second: number): Promise<void> {\n}\n`).join(''));
    const before = `import { ${names.join(', ')} } from './many.js';\n`;
    await write('a.ts', before);
    return before;
  }

  it('are no longer than they may be', async () => {
    const all = await shown('a.ts', await writeMany());
    const tokens = all.reduce((sum, { path: file, text }) => sum + tokensOf(`${file}\n${text}`), 0);
    expect(tokens).toBeGreaterThan(MAX_PIECE_TOKENS * 0.9);
    expect(tokens).toBeLessThanOrEqual(MAX_PIECE_TOKENS);
  });

  it('are no longer than they may be when edits come to a full shelf', async () => {
    const before = await writeMany();
    await write('b.ts', 'x\n');
    await shown('a.ts', before);
    const edits = [{ path: path.join(folder, 'b.ts'), line: 0, before: 'const price = 1;', after: 'const cost = 1;' }];
    const all = await shown('a.ts', `${before}\n`, { edits });
    expect(all.at(-1)?.path).toBe('recent-edits.diff');
    expect(all.reduce((sum, { path: file, text }) => sum + tokensOf(`${file}\n${text}`), 0)).toBeLessThanOrEqual(MAX_PIECE_TOKENS);
  });

  it('stay the same while a name is typed, and go on with what comes below', async () => {
    const before = `${await writeMany()}\n`;
    const first = await shown('a.ts', before);
    for (const line of ['c', 'co', 'const', 'const a', 'const a ', 'const a = ']) expect(await shown('a.ts', before + line)).toEqual(first);
    // What was shown stays in its place as far as the room suffices.
    const next = textOf(await shown('a.ts', `${before}const a = computeValueNumber299(`));
    expect(next).toContain('computeValueNumber299(first');
    const same = [...next].findIndex((character, at) => character !== textOf(first)[at]);
    expect(same).toBeGreaterThan(textOf(first).length * 0.8);
  });

  it('are none where nobody can say what is ignored', async () => {
    const before = await writeMany();
    pieces = new ProjectPieces({ files: new SendableFiles({ ripgrepPath: '/there/is/no/ripgrep' }), indexes: new SymbolIndexes(), log: () => {} });
    expect(await shown('a.ts', before, { openFiles: [path.join(folder, 'many.ts')] })).toEqual([]);
  });
});
