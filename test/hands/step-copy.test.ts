import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { changesOf } from '../../backend/hands/step-copy.ts';
import type { Command } from '../../backend/hands/command.ts';
import { PROJECT, signal, withHands } from './setup.ts';

const edit = (file: string, search: string, replace: string): Command => ({ kind: 'edit', path: file, replacements: [{ search, replace, isExact: true }] });
const MEND = edit('src/shapes.js', 'width + height', 'width * height');

describe('a step\'s copy', () => {
  it('is read, searched, edited and tested, and the workspace stays as it is', async () => {
    const { open, workspace } = await withHands();
    const copy = await open();
    const say = async (command: Command): Promise<string> => (await copy.do(command, signal)).text;

    expect(await say({ kind: 'read', path: 'src/shapes.js', from: 2, to: 2 })).toBe('src/shapes.js, lines 2 to 2 of 3:\n2\t  return width + height;');
    for (const folder of ['src', 'src/', './src/']) expect(await say({ kind: 'read', path: folder })).toBe('src holds:\ncircle.js\nshapes.js');
    expect(await say({ kind: 'read', path: '.' })).toMatch(/^\. holds:\n[^]*src\/\n/);
    expect(await say({ kind: 'read', path: 'nowhere/' })).toContain('There is no such file.');
    expect(await say({ kind: 'search', pattern: 'width \\+', path: 'src' })).toBe('src/shapes.js:2:  return width + height;');
    expect(await say({ kind: 'search', pattern: 'area(' })).toContain('test/shapes.test.js:4:');
    expect(await say({ kind: 'test' })).toMatch(/^1 test passed, 1 failed.*\nFAILED .*area\n[\s\S]*5 !== 6[\s\S]*\npassed .*empty$/);
    expect(await say(MEND)).toBe('Done: src/shapes.js is changed.');
    expect(await say({ kind: 'create', path: 'src/new/line.js', content: 'export const line = 1;\n' })).toMatch(/^Done/);
    expect(await say({ kind: 'delete', path: 'src/circle.js' })).toMatch(/^Done/);
    expect(await say({ kind: 'test' })).toMatch(/^2 tests passed, 0 failed\.\n/);
    expect(copy.edits).toEqual([
      { path: 'src/circle.js', kind: 'delete', before: PROJECT['src/circle.js'], after: null },
      { path: 'src/new/line.js', kind: 'create', before: null, after: 'export const line = 1;\n' },
      { path: 'src/shapes.js', kind: 'modify', before: PROJECT['src/shapes.js'], after: PROJECT['src/shapes.js'].replace('+', '*') },
    ]);
    expect(await readFile(path.join(workspace, 'src/shapes.js'), 'utf8')).toBe(PROJECT['src/shapes.js']);
  });

  it('takes over what a command changes, but nothing that an answer may not change', async () => {
    const { open } = await withHands({ ...PROJECT, '.gitignore': 'dist/\n' });
    const copy = await open();
    const { text } = await copy.do({
      kind: 'run',
      command: 'sed -i s/+/\\*/ src/shapes.js && mkdir -p dist target && echo 1 > dist/out.js && echo 1 > target/out && echo x > src/new.js && rm src/circle.js && ' +
        'echo "" > test/shapes.test.js && echo evil > package.json && ln -s /etc/passwd src/link.js && printf "a\\0b" > src/bytes && cat test/shapes.test.js | wc -c',
    }, signal);
    expect(text).toContain('Ended with exit code 0');
    expect(text).toContain('The command changed src/circle.js, src/new.js, src/shapes.js.');
    expect(text).toContain('test/shapes.test.js: Tests are the judge and stay as they are.');
    expect(copy.edits.map(({ path: file, kind }) => `${kind} ${file}`)).toEqual(['delete src/circle.js', 'create src/new.js', 'modify src/shapes.js']);
    expect((await copy.do({ kind: 'run', command: 'cat package.json test/shapes.test.js' }, signal)).text).toContain("test('area'");
    await copy.do({ kind: 'run', command: 'git init -q . 2>/dev/null; sed -i s/\\*/+/ src/shapes.js; rm src/new.js' }, signal);
    expect(copy.edits.map(({ path: file }) => file)).toEqual(['src/circle.js']);
  });

  it('is made again from its changes', async () => {
    const { open, workspace } = await withHands();
    const first = await open();
    await first.do(MEND, signal);
    await first.do({ kind: 'run', command: 'echo "export const b = 1" >> src/circle.js; echo n > src/n.js' }, signal);
    const changes = changesOf(first.edits);
    const second = await open();
    expect(await second.redo(changes)).toEqual([]);
    expect(second.edits).toEqual(first.edits);
    expect((await second.do({ kind: 'run', command: 'cat src/*.js' }, signal)).text.split('\n').slice(1)).toEqual(
      (await first.do({ kind: 'run', command: 'cat src/*.js' }, signal)).text.split('\n').slice(1));
    await first.release();
    await second.release();
    await writeFile(path.join(workspace, 'src/shapes.js'), 'export const area = 1;\n');
    const third = await open();
    expect(await third.redo(changes)).toEqual(['src/shapes.js']);
    expect(third.edits.map(({ path: file }) => file)).toEqual(['src/circle.js', 'src/n.js']);
  });

  it('follows no path and no link out of the copy, and changes nothing that is protected', async () => {
    const { open, home } = await withHands();
    await writeFile(path.join(home, 'outside.js'), 'the secret outside');
    const copy = await open();
    await copy.do({ kind: 'run', command: `ln -s ${home} up; ln -s ${home}/outside.js out.js; mkfifo pipe; ln -s src within` }, signal);
    const said: string[] = [];
    for (const file of ['../outside.js', `${home}/outside.js`, 'up/outside.js', 'out.js', 'pipe', '/etc/passwd', '~/x', 'src/../../outside.js', 'a\0b', '', 'C:\\x', '.git/config', 'x'.repeat(5_000)]) {
      for (const command of [{ kind: 'read', path: file }, { kind: 'create', path: file, content: 'x' }, { kind: 'delete', path: file }, edit(file, 'the', 'x'), { kind: 'search', pattern: 'secret', path: file }] as const) {
        if (command.kind === 'search' && file === '') continue;
        said.push(`${command.kind} ${file.slice(0, 40)}: ${(await copy.do(command, signal)).text}`);
      }
    }
    expect(said.filter((line) => !line.includes('Not done'))).toEqual([]);
    expect(said.join('\n')).not.toContain('the secret outside');
    expect((await copy.do({ kind: 'search', pattern: 'the secret' }, signal)).text).toBe('Nothing was found.');
    for (const file of ['test/shapes.test.js', 'package.json', 'test/new.test.js', '.env', 'node_modules/a/index.js', '.vscode/settings.json'])
      expect((await copy.do({ kind: 'create', path: file, content: 'x' }, signal)).text, file).toContain('Not done');
    expect(copy.edits).toEqual([]);
    expect(await readFile(path.join(home, 'outside.js'), 'utf8')).toBe('the secret outside');
  });

  it('is told by its tests which of its changes no answer may make', async () => {
    const helper = "import { register } from 'node:module';\nexport const six = 6;\n";
    const { open } = await withHands({
      ...PROJECT, 'check/helper.js': helper,
      'test/helped.test.js': "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { six } from '../check/helper.js';\ntest('six', () => assert.equal(six, 6));\n",
      'package.json': '{ "type": "module", "scripts": { "test": "node --import ./check/helper.js --test" } }',
    });
    const copy = await open({ command: 'npm test' });
    expect((await copy.do(edit('check/helper.js', 'six = 6', 'six = 7'), signal)).text).toMatch(/^Done/);
    expect((await copy.do({ kind: 'test' }, signal)).text).toMatch(/Tried without your change of check\/helper\.js, which no answer may make[\s\S]*passed .*six/);
  });

  it('lets new tests be written where the question asks for tests', async () => {
    const { open } = await withHands();
    const copy = await open({ newTests: true });
    const created = { kind: 'create', path: 'test/more.test.js', content: "import { test } from 'node:test';\ntest('more', () => {});\n" } as const;
    expect((await copy.do(created, signal)).text).toMatch(/^Done/);
    expect((await copy.do({ kind: 'test' }, signal)).text).toContain('more');
    expect((await copy.do(edit('test/shapes.test.js', '6', '5'), signal)).text).toContain('Tests that are there stay as they are');
    await copy.do({ kind: 'run', command: `printf "test('one more', () => {});\\n" >> test/shapes.test.js; sed -i 's/test(/test.skip(/' test/more.test.js` }, signal);
    expect((await copy.do({ kind: 'test' }, signal)).text).toContain('one more');
    expect((await copy.do({ kind: 'run', command: 'sed -i s/6/5/ test/shapes.test.js' }, signal)).text).toContain('Tests that are there stay as they are');
  });

  it('holds no secrets, and tells none', async () => {
    const key = `sk-proj-${'a1B2'.repeat(10)}`;
    const { open } = await withHands({ ...PROJECT, '.env': `KEY=${key}\n`, 'config/id_rsa': key, 'private.txt': 'mine', '.conductorignore': 'private.txt\n', 'src/key.js': `export const key = '${key}';\n` });
    const copy = await open();
    for (const command of [
      { kind: 'read', path: '.env' }, { kind: 'read', path: 'config/id_rsa' }, { kind: 'read', path: 'private.txt' }, { kind: 'read', path: 'src/key.js' },
      { kind: 'search', pattern: 'sk-proj' }, { kind: 'search', pattern: 'mine' }, { kind: 'run', command: 'cat .env config/id_rsa private.txt; cat src/key.js; base64 .env; env' },
    ] as const) {
      const { text } = await copy.do(command, signal);
      expect(text).not.toContain('a1B2');
      expect(text).not.toMatch(/^(?:private\.txt:1:)?mine$/m);
      expect(text).not.toContain(Buffer.from(`KEY=${key}`).toString('base64').slice(0, 20));
    }
    expect(copy.edits).toEqual([]);
  });
});

describe('the copies of steps', () => {
  it('leave copies for verdicts: what tests a change never waits for a step to end', async () => {
    const { open, verifier, workspace } = await withHands(PROJECT, { limit: 4 });
    const held = [await open(), await open()];
    let isOpen = false;
    const third = open().then((copy) => {
      isOpen = true;
      return copy;
    });
    const [before, after] = [PROJECT['src/shapes.js'], PROJECT['src/shapes.js'].replace('+', '*')];
    const patch = { edits: [{ path: 'src/shapes.js', kind: 'modify' as const, before, after }], refused: [] };
    const verdicts = await Promise.all([1, 2].map(() => verifier.verify({ base: workspace, patch, command: 'node --test', signal })));
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(['verified', 'verified']);
    const tried = await Promise.all(held.map((copy) => copy.do({ kind: 'test' }, signal)));
    expect(tried.map(({ text }) => text.split('.')[0])).toEqual(['1 test passed, 1 failed', '1 test passed, 1 failed']);
    expect(isOpen).toBe(false);
    await held[0]?.release();
    await (await third).release();
  });
});
