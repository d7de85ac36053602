import { renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { describe, expect, test } from 'vitest';
import { Ripgrep } from '../../backend/context/ripgrep.ts';
import { definitionsIn } from '../../backend/context/symbols/definitions-in.ts';
import { importsIn } from '../../backend/common/imports/imports-in.ts';
import type { SymbolIndex } from '../../backend/context/symbols/symbol-index.ts';
import { SymbolIndexes } from '../../backend/context/symbols/symbol-indexes.ts';
import { temporaryFolder, workspaceWith, writeFiles, type Files } from './workspaces.ts';

const ripgrep = new Ripgrep(rgPath);
const signal = new AbortController().signal;

async function indexOf(files: Files): Promise<SymbolIndex> {
  const index = await new SymbolIndexes().open(workspaceWith(files), ripgrep, signal);
  if (!index) throw new Error('no index');
  return index;
}

/** `name start-end` of every definition. */
function defined(file: string, text: string): string[] {
  return definitionsIn(file, text.split('\n')).map(({ name, startLine, endLine }) => `${name} ${startLine}-${endLine}`);
}

describe('the definitions of a file', () => {
  test.each<[string, string, string, string[]]>([
    ['functions, classes and their methods', 'a.ts',
      'export async function load<T>(a: T) {\n  return a;\n}\nexport default class Box {\n  #size = 1;\n  static of(\n    a: number,\n  ): Box {\n    return a;\n  }\n  get size() {\n    return 1;\n  }\n  on = (a) => {\n  };\n}',
      ['load 1-3', 'Box 4-16', 'of 6-10', 'size 11-13', 'on 14-15']],
    ['types and values', 'a.ts', 'export type Id = string;\ninterface Shape {\n  a: 1;\n}\nconst enum Kind {\n  A,\n}\nexport const LIMIT = 3;\nlet f = async (x) => {\n  const inner = 1;\n};',
      ['Id 1-1', 'Shape 2-4', 'Kind 5-7', 'LIMIT 8-8', 'f 9-11']],
    ['assigned functions', 'a.js', "res.send = function send(body) {\n  go();\n};\nexports.parse = parse;\nmodule.exports = {\n  visit: function (a) {\n  },\n  walk(b) {\n  },\n};",
      ['send 1-3', 'parse 4-4', 'visit 6-7', 'walk 8-9']],
    ['no calls and branches', 'a.js', "  describe('x', () => {\n  });\n  if (a) {\n  }\n  return call(b, function () {\n  });\n  items.forEach((one) => {\n  });\n  foo(\n    1,\n  );", []],
    ['decorated ones with their decorators', 'a.py', '@one\n@two(3)\nasync def f(\n    a,\n):\n    return a\n\n\nclass C(B):\n    x = 1\n    def g(self): ...\n\nX: int = 3\nif X == 3:\n    pass',
      ['f 1-6', 'C 9-11', 'g 11-11', 'X 13-13']],
    ['methods and groups', 'a.go', '// Get gets.\nfunc (r *Router) Get(a string) error {\n\treturn nil\n}\ntype T struct {\n\tA int\n}\nvar (\n\tErrOne = 1\n)\nfunc Map[K any](k K) {}',
      ['Get 1-4', 'T 5-7', 'ErrOne 9-9', 'Map 11-11']],
    ['functions, types and implementations', 'a.rs', '#[derive(Debug)]\npub struct P {\n    a: u8,\n}\nimpl<T> fmt::Display for P {\n    pub(crate) const fn get(&self) -> u8 {\n        1\n    }\n}\nmacro_rules! m {\n}',
      ['P 1-4', 'P 5-9', 'get 6-8', 'm 10-11']],
    ['methods and constructors', 'A.java', 'public final class A<T> {\n  @Override\n  public List<String> names(int a) throws E {\n    return call(a);\n  }\n  A(int b) {\n  }\n  int other(int c);\n}',
      ['A 1-9', 'names 2-5']],
    ['functions with their body', 'a.c', '#define MAX 3\nstatic int\n  *x;\nstatic const char *name_of(int a,\n                  int b)\n{\n  return call(a);\n}\nint declared(int a);\nstruct s {\n  int a;\n};',
      ['MAX 1-1', 'name_of 4-8', 's 10-12']],
    ['methods and modules', 'a.rb', 'module M\n  class A < B\n    def self.make(a)\n      a\n    end\n  end\nend', ['M 1-7', 'A 2-6', 'make 3-5']],
    ['functions of a class', 'a.php', '<?php\nfinal class A {\n  public static function &make($a) {\n  }\n}', ['A 2-5', 'make 3-4']],
  ])('are its %s (%s)', (_, file, text, expected) => {
    expect(defined(file, text)).toEqual(expected);
  });

  test('have a signature on one line, without the body', () => {
    const [first] = definitionsIn('a.ts', 'export function f(\n  a: string,\n  b: number,\n): Map<string, number> {\n  return 1;\n}'.split('\n'));
    expect(first?.signature).toBe('export function f( a: string, b: number, ): Map<string, number>');
  });

  test('of a file of any kind are found in bounded time', () => {
    for (const line of ['('.repeat(600), 'a '.repeat(300), 'export const a = ('.repeat(33), `${' '.repeat(590)}f(`, 'function f('.repeat(54)]) {
      for (const file of ['a.ts', 'a.py', 'a.go', 'a.rs', 'a.java', 'a.c', 'a.rb', 'a.php', 'a.swift', 'a.ex', 'a.lua', 'a.sh', 'a.sql']) {
        expect(definitionsIn(file, Array.from({ length: 700 }, () => line)).length).toBeLessThanOrEqual(2_000);
        expect(importsIn(file, `${line}\n`.repeat(700)).length).toBeLessThanOrEqual(400);
      }
    }
  });
});

test.each([
  ['a.ts', "import { a, type B as C } from './x';\nimport d, * as e from 'y';\nexport * from './z.js';\nimport type { F } from './f';\nconst { g: h } = require('./g');\nimport 'side';",
    ['./x: a, B as C', 'y: d', './z.js: ', './f: F', 'side: ', './g: g as h']],
  ['a.py', 'from .core import (\n    A as B,  # why\n    c,\n)\nimport os.path as p, sys\nfrom . import utils', ['.core: A as B, c', '.: utils', 'os.path: ', 'sys: ']],
  ['a.go', 'import (\n\t"fmt"\n\tx "example.com/m/pkg"\n)\nimport "os"', ['fmt: ', 'example.com/m/pkg: ', 'os: ']],
  ['a.rs', 'mod args;\nuse crate::search::{Sink, Worker as W};\npub use std::io::Read;', ['self::args: ', 'crate::search: Sink, Worker as W', 'std::io::Read: Read']],
])('the imports of %s are read with the names that they bring', (file, text, expected) => {
  const found = importsIn(file, text).map(({ from, names }) => `${from}: ${names.map(({ name, as }) => (name === as ? name : `${name} as ${as}`)).join(', ')}`);
  expect(found).toEqual(expected);
});

describe('the index of a workspace', () => {
  const project: Files = {
    'package.json': '{"name": "root"}',
    'packages/core/package.json': '{"name": "@acme/core"}',
    'packages/core/src/index.ts': "export * from './deep/load';\nexport { default as box } from './box';\n",
    'packages/core/src/deep/load.ts': 'export function load(file: string): string {\n  return file;\n}\n',
    'packages/core/src/box.ts': 'export default function box() {\n}\n',
    'packages/app/src/main.ts': "import { load as read } from '@acme/core';\nimport { helper } from './helper.js';\nread(helper());\n",
    'packages/app/src/helper.ts': 'export const helper = () => 1;\nexport function load() {\n}\n',
    'packages/app/test/main.test.ts': "import '../src/main';\nfunction load() {\n}\n",
  };

  test('finds a definition through the names of packages, other names and files that hand it on', async () => {
    const index = await indexOf(project);
    const [first] = index.definitions('read', { path: 'packages/app/src/main.ts' });
    expect(first).toMatchObject({ name: 'load', path: 'packages/core/src/deep/load.ts', startLine: 1, endLine: 3, signature: 'export function load(file: string): string' });
    expect(index.importsOf('packages/app/src/main.ts')).toEqual(['packages/core/src/index.ts', 'packages/app/src/helper.ts']);
    expect(index.importersOf('packages/app/src/main.ts')).toEqual(['packages/app/test/main.test.ts']);
  });

  test('puts the definition in the same file first, then nearer ones, and tests last', async () => {
    const index = await indexOf(project);
    const from = (file: string) => index.definitions('load', { path: file }).map((definition) => definition.path);
    expect(from('packages/app/src/helper.ts')[0]).toBe('packages/app/src/helper.ts');
    expect(from('packages/app/src/other.ts')[0]).toBe('packages/app/src/helper.ts');
    expect(from('packages/app/src/other.ts').at(-1)).toBe('packages/app/test/main.test.ts');
  });

  test('reads the imports of a text that is newer than its file', async () => {
    const index = await indexOf(project);
    const text = "import { load } from './helper';\nload();";
    expect(index.definitions('load', { path: 'packages/app/src/new.ts', text })[0]?.path).toBe('packages/app/src/helper.ts');
    expect(index.importsOf('packages/app/src/main.ts', text)).toEqual(['packages/app/src/helper.ts']);
  });

  test.each<[string, Files, string, string[]]>([
    ['Python', { 'src/pkg/__init__.py': '', 'src/pkg/core.py': 'from . import util\nfrom .sub.deep import x\nimport pkg.other\n', 'src/pkg/util.py': '', 'src/pkg/sub/deep.py': '', 'src/pkg/other.py': '' },
      'src/pkg/core.py', ['src/pkg/__init__.py', 'src/pkg/sub/deep.py', 'src/pkg/other.py']],
    ['Go', { 'go.mod': 'module example.com/m\n', 'main.go': 'import "example.com/m/in/pkg"\n', 'in/pkg/a.go': '', 'in/pkg/a_test.go': '', 'in/pkg/b.go': '' },
      'main.go', ['in/pkg/a.go', 'in/pkg/b.go']],
    ['Rust', { 'c/Cargo.toml': '[package]\nname = "my-lib"\n', 'c/src/lib.rs': 'mod a;\nuse crate::a::b::T;\n', 'c/src/a/mod.rs': '', 'c/src/a/b.rs': '' },
      'c/src/lib.rs', ['c/src/a/mod.rs', 'c/src/a/b.rs']],
    ['Java', { 'src/main/java/org/x/A.java': 'import org.x.y.B;\n', 'src/main/java/org/x/y/B.java': '' },
      'src/main/java/org/x/A.java', ['src/main/java/org/x/y/B.java']],
    ['C', { 'src/a.c': '#include "inc/b.h"\n#include <stdio.h>\n', 'include/inc/b.h': '' }, 'src/a.c', ['include/inc/b.h']],
  ])('resolves the imports of %s', async (_, files, file, expected) => {
    expect((await indexOf(files)).importsOf(file)).toEqual(expected);
  });

  test('has neither ignored nor secret files, nor links out of the workspace, and no secret in a signature', async () => {
    const outside = temporaryFolder();
    writeFiles(outside, { 'out.ts': 'export function hidden() {\n}\n' });
    const folder = workspaceWith({
      '.gitignore': 'ignored.ts\n', 'ignored.ts': 'export function hidden() {\n}\n', 'secrets.env': 'hidden=1\n',
      'key.ts': "export const hidden2 = 'sk-ant-" + 'a1b2'.repeat(8) + "';\n",
    });
    symlinkSync(path.join(outside, 'out.ts'), path.join(folder, 'link.ts'));
    symlinkSync(outside, path.join(folder, 'linked'));
    const index = await new SymbolIndexes().open(folder, ripgrep, signal);
    expect(index?.definitions('hidden')).toEqual([]);
    expect(index?.definitions('hidden2')).toMatchObject([{ path: 'key.ts', signature: '[left out: looks like a secret]' }]);
  });

  test('leaves out what is binary, minified or too large, and whatever else is a workspace', async () => {
    const index = await indexOf({
      'binary.js': Buffer.from('function one() {\n}\0'), 'min.js': `function two() {}${'a();'.repeat(2_000)}`,
      'large.js': 'function three() {\n}\n'.repeat(60_000), 'ok.js': 'function four() {\n}\n',
    });
    expect(['one', 'two', 'three', 'four'].map((name) => index.definitions(name).length)).toEqual([0, 0, 0, 1]);
  });

  test('follows changed, new, renamed and deleted files', async () => {
    const folder = workspaceWith({ 'a.ts': 'export const one = 1;\n', 'b.ts': "import './a';\n", 'c.ts': 'export const three = 1;\n' });
    const indexes = new SymbolIndexes();
    const index = await indexes.open(folder, ripgrep, signal);
    writeFiles(folder, { 'a.ts': 'export const two = 2;\n', 'd.ts': "import './a';\nexport const four = 4;\n" });
    utimesSync(path.join(folder, 'a.ts'), 1, 1);
    rmSync(path.join(folder, 'b.ts'));
    renameSync(path.join(folder, 'c.ts'), path.join(folder, 'e.ts'));
    expect(await indexes.open(folder, ripgrep, signal)).toBe(index);
    const where = (name: string) => index?.definitions(name).map((definition) => definition.path);
    expect([where('one'), where('two'), where('three'), where('four')]).toEqual([[], ['a.ts'], ['e.ts'], ['d.ts']]);
    expect(index?.importersOf('a.ts')).toEqual(['d.ts']);
  });

  test('is there at once when it is warm, and of the last workspaces only', async () => {
    const indexes = new SymbolIndexes();
    const folders = Array.from({ length: 4 }, () => workspaceWith({ 'a.ts': '' }));
    for (const folder of folders) await indexes.open(folder, ripgrep, signal);
    expect(folders.map((folder) => indexes.warm(folder) !== undefined)).toEqual([false, true, true, true]);
  });

  test('rejects with the reason when it is no longer wanted, and is filled the next time', async () => {
    const folder = workspaceWith(project);
    const indexes = new SymbolIndexes();
    const reason = new Error('no longer wanted');
    await expect(indexes.open(folder, ripgrep, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(indexes.warm(folder)).toBeUndefined();
    expect((await indexes.open(folder, ripgrep, signal))?.definitions('box')).toHaveLength(1);
  });
});
