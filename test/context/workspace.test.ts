import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { gather, paths, temporaryFolder, workspaceWith, writeFiles } from './workspaces.ts';

/** Why a file that a person named is not sent. */
async function reasonFor(workspace: string, file: string): Promise<string | undefined> {
  const context = await gather(workspace, { files: [{ path: file }] });
  return context.leftOut[0]?.reason;
}

describe('ignore files', () => {
  const files = {
    '.gitignore': 'build/\n*.log\n!keep.log\n',
    'sub/.gitignore': 'local.js\n',
    '.conductorignore': 'private/\nkeep.log\n/root-only.js\n',
    'src/a.js': 'needleName();\n', 'build/a.js': 'needleName();\n', 'debug.log': 'needleName();\n', 'keep.log': 'needleName();\n',
    'sub/local.js': 'needleName();\n', 'private/a.js': 'needleName();\n',
    'root-only.js': 'needleName();\n', 'sub/root-only.js': 'needleName();\n',
    'node_modules/m/index.js': 'needleName();\n', '.git/hooks/x.js': 'needleName();\n',
  };

  test('are respected by the search, in a folder that is no repository, too', async () => {
    const context = await gather(workspaceWith(files), { question: 'needleName' });
    expect(paths(context).sort()).toEqual(['src/a.js', 'sub/root-only.js']);
  });

  test('are respected when a person names the file, and it is said', async () => {
    const workspace = workspaceWith(files);
    for (const file of ['build/a.js', 'debug.log', 'sub/local.js', 'private/a.js', 'root-only.js', 'node_modules/m/index.js']) {
      expect([file, await reasonFor(workspace, file)]).toEqual([file, 'ignored by .gitignore, .conductorignore or the like']);
    }
  });

  test('a .gitignore cannot take back what .conductorignore excludes', async () => {
    expect(await reasonFor(workspaceWith(files), 'keep.log')).toMatch(/^ignored by/);
  });

  test('of the repository around the workspace count, those of other folders above do not', async () => {
    const outer = workspaceWith({ '.gitignore': '*.txt\n', 'inner/a.txt': 'a\n' });
    expect(await reasonFor(path.join(outer, 'inner'), 'a.txt')).toBeUndefined();
    mkdirSync(path.join(outer, '.git'));
    expect(await reasonFor(path.join(outer, 'inner'), 'a.txt')).toMatch(/^ignored by/);
  });

  test('hidden files are found when they are named', async () => {
    const workspace = workspaceWith({ '.github/workflows/ci.yml': 'on: push\n', '.eslintrc': '{}\n' });
    const context = await gather(workspace, { question: '#.eslintrc #ci.yml' });
    expect(paths(context).sort()).toEqual(['.eslintrc', '.github/workflows/ci.yml']);
  });
});

describe('a file that is not sent says why', () => {
  test.each([
    ['not UTF-8', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]), 'not UTF-8 text'],
    ['binary', Buffer.from('PNG\u0000\u0001'), 'not UTF-8 text'],
    ['UTF-16', Buffer.from('\ufeffhello', 'utf16le'), 'not UTF-8 text'],
    ['too large', Buffer.alloc(1024 * 1024 + 1, 'x\n'), 'larger than 1 MiB'],
  ])('%s', async (_name, content, reason) => {
    expect(await reasonFor(workspaceWith({ 'file.dat': content }), 'file.dat')).toBe(reason);
  });

  test('a folder', async () => {
    expect(await reasonFor(workspaceWith({ 'src/a.js': '' }), 'src')).toBe('a folder, not a file');
    expect(await reasonFor(workspaceWith({ 'src/a.js': '' }), '.')).toBe('a folder, not a file');
  });

  const outside = ['../outside.txt', '/etc/passwd', 'src/../../outside.txt', 'file:///etc/passwd'];
  test.each(outside)('outside of the workspace: %s', async (file) => {
    expect(await reasonFor(workspaceWith({ 'src/a.js': '' }), file)).toBe('outside the workspace');
  });

  test.each(['absent.js', 'src/a.js/b', 'nul\u0000byte', 'x'.repeat(3_000)])('not there: %j', async (file) => {
    expect(await reasonFor(workspaceWith({ 'src/a.js': '' }), file)).toBe('no such file');
  });

  test('no regular file: a named pipe is not waited for', async () => {
    const workspace = workspaceWith({ 'a.js': '' });
    execFileSync('mkfifo', [path.join(workspace, 'pipe')]);
    expect(await reasonFor(workspace, 'pipe')).toBe('not a regular file');
  });

  test('not readable', async () => {
    const workspace = workspaceWith({ 'locked.txt': 'x\n' });
    chmodSync(path.join(workspace, 'locked.txt'), 0);
    // Who may read everything (root) is shown the file.
    expect(await reasonFor(workspace, 'locked.txt')).toBe(process.getuid?.() === 0 ? undefined : 'could not be read');
  });
});

describe('links', () => {
  test('that leave the workspace are not followed: to a file, through a folder, or in a circle', async () => {
    const outside = workspaceWith({ 'hidden.txt': 'outsideName_1\n' });
    const workspace = workspaceWith({ 'a.js': 'x\n' });
    symlinkSync(path.join(outside, 'hidden.txt'), path.join(workspace, 'link.txt'));
    symlinkSync(outside, path.join(workspace, 'folder'));
    symlinkSync('circle', path.join(workspace, 'circle'));
    expect(await reasonFor(workspace, 'link.txt')).toBe('a link that leaves the workspace');
    expect(await reasonFor(workspace, 'folder/hidden.txt')).toBe('a link that leaves the workspace');
    expect(await reasonFor(workspace, 'circle')).toBe('a link that leads nowhere');
    expect(paths(await gather(workspace, { question: 'outsideName_1' }))).toEqual([]);
  });

  test('inside the workspace lead to the file they mean, under the rules of that file', async () => {
    const workspace = workspaceWith({ 'src/a.js': 'x\n', '.env': 'A=1\n', '.gitignore': 'ignored.js\n', 'ignored.js': 'x\n' });
    for (const [target, link] of [['src/a.js', 'good.js'], ['.env', 'innocent.txt'], ['ignored.js', 'shown.js']] as const) {
      symlinkSync(target, path.join(workspace, link));
    }
    expect(paths(await gather(workspace, { files: [{ path: 'good.js' }] }))).toEqual(['src/a.js']);
    expect(await reasonFor(workspace, 'innocent.txt')).toBe('its name says that it holds secrets');
    expect(await reasonFor(workspace, 'shown.js')).toMatch(/^ignored by/);
  });

  test('to the workspace itself are the workspace', async () => {
    const folder = temporaryFolder();
    writeFiles(folder, { 'real/a.js': 'x\n' });
    symlinkSync(path.join(folder, 'real'), path.join(folder, 'alias'));
    const files = ['alias/a.js', 'real/a.js'].map((file) => ({ path: path.join(folder, file) }));
    const context = await gather(path.join(folder, 'alias'), { files });
    expect(paths(context)).toEqual(['a.js']);
    expect(context.leftOut).toEqual([]);
  });
});

test('Windows line ends, a byte order mark and a missing last line end change no line', async () => {
  const workspace = workspaceWith({ 'a.txt': '\ufeffone\r\ntwo\r\nthree' });
  const context = await gather(workspace, { files: [{ path: 'a.txt' }] });
  expect(context.text).toContain('```txt\none\ntwo\nthree\n```');
});

test('folders of tools are never searched, whether an ignore file names them or not', async () => {
  const workspace = workspaceWith({ '.venv/lib/site.py': 'needleName = 1\n', 'pkg/__pycache__/x.py': 'needleName = 1\n' });
  expect(paths(await gather(workspace, { question: 'needleName' }))).toEqual([]);
});
