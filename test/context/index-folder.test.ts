import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { serialize } from 'node:v8';
import { rgPath } from '@vscode/ripgrep';
import { describe, expect, test } from 'vitest';
import { Ripgrep } from '../../backend/context/ripgrep.ts';
import { Vocabulary } from '../../backend/context/search/vocabulary.ts';
import { bytesOf, contentOf, FORMAT } from '../../backend/context/symbols/index-bytes.ts';
import { IndexFolder } from '../../backend/context/symbols/index-folder.ts';
import { indexFile, statusOf } from '../../backend/context/symbols/indexed-file.ts';
import type { SymbolIndex } from '../../backend/context/symbols/symbol-index.ts';
import { SymbolIndexes } from '../../backend/context/symbols/symbol-indexes.ts';
import { temporaryFolder, workspaceWith, writeFiles, type Files } from './workspaces.ts';

const ripgrep = new Ripgrep(rgPath);
const signal = new AbortController().signal;
const KEY = `sk-ant-${'a1b2'.repeat(8)}`;

/** More files than are read anew each time. */
const MANY: Files = {
  ...Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`src/f${index}.js`, `import { g } from './g.js';\nexport function find${index}() {\n  return g();\n}\n`])),
  'src/g.js': `export const key = '${KEY}';\nexport function g() {\n}\n`,
};

interface Place {
  readonly folder: string;
  readonly version?: string;
}

/** What a backend that has just started makes of a workspace, and what it has written when it is done. */
async function started(workspace: string, { folder, version = '1' }: Place, log: string[] = []): Promise<SymbolIndex> {
  const indexes = new SymbolIndexes(new IndexFolder({ folder, version, log: (line) => log.push(line) }));
  const index = await indexes.open(workspace, ripgrep, signal);
  await indexes.saved;
  if (!index) throw new Error('no index');
  return index;
}

const filesIn = (folder: string): string[] => readdirSync(folder).map((name) => path.join(folder, name));

describe('an index on disk', () => {
  test('is what the next backend begins with: it reads only files that have changed since', async () => {
    const workspace = workspaceWith(MANY);
    const folder = path.join(temporaryFolder(), 'indexes');
    const first = await started(workspace, { folder });
    expect(first.changes).toBe(251);
    const second = await started(workspace, { folder });
    expect(second.changes).toBe(0);
    expect(second.definitions('find7')).toEqual(first.definitions('find7'));
    expect(second.importersOf('src/g.js')).toEqual(first.importersOf('src/g.js'));
    expect(second.vocabulary.find('find7')).toBe(first.vocabulary.find('find7'));
    expect([...second.files].map(({ path: file, words, counts }) => [file, words, counts])).toEqual([...first.files].map(({ path: file, words, counts }) => [file, words, counts]));

    writeFiles(workspace, { 'src/f7.js': 'export function renamed() {\n}\n', 'src/new.js': 'export function added() {\n}\n' });
    renameSync(path.join(workspace, 'src/f8.js'), path.join(workspace, '.env'));
    const third = await started(workspace, { folder });
    expect(['find7', 'find8', 'renamed', 'added', 'find9'].map((name) => third.definitions(name).length)).toEqual([0, 0, 1, 1, 1]);
  });

  test('is readable only by its owner, and has no text of the files that looks like a secret', async () => {
    const folder = path.join(temporaryFolder(), 'indexes');
    await started(workspaceWith(MANY), { folder });
    const [file = ''] = filesIn(folder);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'latin1').toLowerCase();
    expect(text).toContain('find7');
    for (const part of [KEY, 'a1b2'.repeat(8), 'a1b2a1b2']) expect(text).not.toContain(part);
  });

  test('of a small workspace is not written: its files are read as fast', async () => {
    const folder = path.join(temporaryFolder(), 'indexes');
    mkdirSync(folder);
    await started(workspaceWith({ 'a.js': 'function f() {\n}\n' }), { folder });
    expect(filesIn(folder)).toEqual([]);
  });

  test.each<[string, (file: string) => void]>([
    ['cut off', (file) => writeFileSync(file, readFileSync(file).subarray(0, -10))],
    ['empty', (file) => writeFileSync(file, '')],
    ['damaged', (file) => {
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
      writeFileSync(file, bytes);
    }],
    ['a link', (file) => {
      renameSync(file, `${file}.other`);
      symlinkSync(`${file}.other`, file);
    }],
    ['a folder', (file) => {
      renameSync(file, `${file}.other`);
      mkdirSync(file);
    }],
  ])('that is %s is as if it were not there', async (_, spoil) => {
    const workspace = workspaceWith(MANY);
    const folder = path.join(temporaryFolder(), 'indexes');
    await started(workspace, { folder });
    for (const file of filesIn(folder)) spoil(file);
    const index = await started(workspace, { folder });
    expect(index.changes).toBe(251);
    expect(index.definitions('find7')).toHaveLength(1);
  });

  test('of another workspace, or written by another version, is not taken', async () => {
    const folder = path.join(temporaryFolder(), 'indexes');
    const workspace = workspaceWith(MANY);
    await started(workspace, { folder });
    const [own = ''] = filesIn(folder);
    const others = path.join(temporaryFolder(), 'others');
    await started(workspaceWith(MANY), { folder: others });
    expect((await started(workspace, { folder, version: '2' })).changes).toBe(251);
    for (const other of filesIn(others)) renameSync(other, own);
    expect((await started(workspace, { folder, version: '2' })).changes).toBe(251);
  });

  test('is removed when eight others were used since, or when it was not used for a month', async () => {
    const folder = path.join(temporaryFolder(), 'indexes');
    const store = new IndexFolder({ folder, version: '1', log: () => {} });
    const empty = { hashes: new Float64Array(), files: [] };
    for (const [index, root] of ['/a', '/b', '/c', '/d', '/e', '/f', '/g', '/h'].entries()) {
      await store.save(root, empty);
      const usedAt = new Date(Date.now() - (root === '/b' ? 31 * 24 : 10 - index) * 60 * 60_000);
      for (const file of filesIn(folder)) if (statSync(file).mtimeMs > Date.now() - 60_000) utimesSync(file, usedAt, usedAt);
    }
    expect(await store.load('/a')).toEqual(empty);
    await store.save('/i', empty);
    expect(filesIn(folder)).toHaveLength(8);
    expect(await store.load('/b')).toBeUndefined();
    await store.save('/j', empty);
    expect(filesIn(folder)).toHaveLength(8);
    expect([await store.load('/a'), await store.load('/c')]).toEqual([empty, undefined]);
  });

  test('of which a killed write has left a part is removed in time, and nothing else in the folder is', async () => {
    const folder = temporaryFolder();
    const left = path.join(folder, `.${'0'.repeat(32)}.index.4f1a.tmp`);
    const other = path.join(folder, 'notes.txt');
    const longAgo = new Date(Date.now() - 31 * 24 * 60 * 60_000);
    for (const file of [left, other]) {
      writeFileSync(file, '');
      utimesSync(file, longAgo, longAgo);
    }
    await new IndexFolder({ folder, version: '1', log: () => {} }).save('/a', { hashes: new Float64Array(), files: [] });
    expect(filesIn(folder)).toContain(other);
    expect(filesIn(folder)).not.toContain(left);
  });

  test('that cannot be written is logged, and the question is answered all the same', async () => {
    const folder = path.join(temporaryFolder(), 'file');
    writeFileSync(folder, '');
    const log: string[] = [];
    expect((await started(workspaceWith(MANY), { folder }, log)).definitions('find7')).toHaveLength(1);
    expect(log).toEqual([expect.stringContaining('could not be kept')]);
  });
});

test.each<[string, readonly unknown[], unknown]>([
  ['no words', [FORMAT, 'key', [1, 2]], []],
  ['another format', [FORMAT + 1, 'key', new Float64Array()], []],
  ['files that are no list', [FORMAT, 'key', new Float64Array()], 7],
  ['files without words', [FORMAT, 'key', new Float64Array()], [['a', 1, 1, undefined, 1, [1], [1], [], [], [], []]]],
  ['definitions that are numbers', [FORMAT, 'key', new Float64Array()], [['a', 1, 1, undefined, 1, new Uint32Array(), new Uint8Array(), new Uint32Array(), new Uint32Array(), [1], []]]],
  ['imports without names', [FORMAT, 'key', new Float64Array()], [['a', 1, 1, undefined, 1, new Uint32Array(), new Uint8Array(), new Uint32Array(), new Uint32Array(), [], [{ from: 'x' }]]]],
])('bytes with a right checksum and %s are no index', async (_, head, files) => {
  const body = Buffer.concat([head, files].flatMap((block) => {
    const bytes = serialize(block);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return [length, bytes];
  }));
  const real = await bytesOf('key', { hashes: new Float64Array(), files: [] });
  expect(await contentOf('key', real)).toBeDefined();
  expect(await contentOf('key', Buffer.concat([real.subarray(0, 16), hash('sha256', body, 'buffer'), body]))).toBeUndefined();
});

test('what is read from a file is as it was when the number of the format was chosen', () => {
  const root = workspaceWith({
    'a.ts': "import { b } from './b';\nexport class A {\n  run(x: number) {\n    return b(x);\n  }\n}\n", 'a.py': 'from .b import c\n\ndef f(parsed_values):\n    pass\n',
    'a.go': 'import "fmt"\n\n// Get gets.\nfunc (r *Router) Get(a string) error {\n}\n', 'a.rs': 'use crate::b::T;\nimpl A for B {\n}\n', 'package.json': '{"name": "a"}',
  });
  const vocabulary = new Vocabulary();
  const records = ['a.ts', 'a.py', 'a.go', 'a.rs', 'package.json'].map((file) => {
    const status = statusOf(path.join(root, file));
    if (!status) throw new Error('no file');
    return { ...indexFile({ root, vocabulary }, file, status), mtimeMs: 0 };
  });
  const digest = hash('sha256', JSON.stringify([records, [...vocabulary.hashes]])).slice(0, 16);
  // If this differs, indexes on disk have been read by other rules: raise FORMAT and write down the new digest.
  expect([FORMAT, digest]).toEqual([1, '50c58a35068a284b']);
});
