import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readPrompt } from '../../backend/cli/acp/read-prompt.ts';
import { SessionFiles } from '../../backend/cli/acp/session-files.ts';
import { writeChange } from '../../backend/cli/acp/write-change.ts';
import type { FileEdit } from '../../backend/protocol/methods.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const text = (file: string): Promise<string> => readFile(path.join(folder, file), 'utf8');
const edit = (file: string, before: string | null, after: string | null): FileEdit => ({ path: file, kind: before === null ? 'create' : after === null ? 'delete' : 'modify', before, after });

describe('the change', () => {
  it('is written whole: a file is changed with its line ends, one is made with its folders, and one is removed', async () => {
    await writeFile(path.join(folder, 'a.txt'), 'one\r\ntwo\r\n');
    await writeFile(path.join(folder, 'b.txt'), 'old\n');
    await writeChange(folder, [edit('a.txt', 'one\ntwo\n', 'one\n2\n'), edit('new/deep/c.txt', null, 'c\n'), edit('b.txt', 'old\n', null)], {});
    expect([await text('a.txt'), await text('new/deep/c.txt')]).toEqual(['one\r\n2\r\n', 'c\n']);
    await expect(text('b.txt')).rejects.toThrow('ENOENT');
  });

  it('is not written over what an editor has not saved, nor over a file that came meanwhile', async () => {
    await writeFile(path.join(folder, 'a.txt'), 'one\n');
    await expect(writeChange(folder, [edit('a.txt', 'one\n', 'two\n')], { read: async () => 'one, unsaved\n' })).rejects.toThrow('Nothing was written: a.txt has other text by now.');
    await expect(writeChange(folder, [edit('a.txt', null, 'two\n')], {})).rejects.toThrow('a.txt exists by now');
    await expect(writeChange(folder, [edit('b.txt', 'b', 'two\n')], {})).rejects.toThrow('b.txt is gone');
    expect(await text('a.txt')).toBe('one\n');
  });

  it.each(['../outside.txt', '/etc/hosts', 'link/hosts', 'C:/x', ''])('stays in the project: %j', async (file) => {
    await symlink('/etc', path.join(folder, 'link'));
    await writeFile(path.join(folder, 'a.txt'), 'one\n');
    await expect(writeChange(folder, [edit('a.txt', 'one\n', 'two\n'), edit(file, null, 'evil')], {})).rejects.toThrow('Nothing was written');
    expect(await text('a.txt')).toBe('one\n');
  });

  it('is taken back where one of its files cannot be written', async () => {
    await writeFile(path.join(folder, 'a.txt'), 'one\n');
    await mkdir(path.join(folder, 'sub'));
    const write = async (file: string, after: string): Promise<void> => {
      if (file.endsWith('b.txt')) throw new Error('The editor does not want that.');
      await writeFile(file, after);
    };
    await expect(writeChange(folder, [edit('a.txt', 'one\n', 'two\n'), edit('sub/c.txt', null, 'c'), edit('b.txt', null, 'b')], { write }))
      .rejects.toThrow('b.txt could not be written: The editor does not want that. No file was changed.');
    expect(await text('a.txt')).toBe('one\n');
    await expect(text('sub/c.txt')).rejects.toThrow('ENOENT');
  });
});

it('reads a prompt: files of the project by path and lines, other texts whole, and says what is left out', () => {
  const read = readPrompt([
    { type: 'text', text: 'Why does' },
    { type: 'resource_link', name: 'sum.js', uri: 'file:///work/project/src/sum.js#L3-L7' },
    { type: 'text', text: 'fail?' },
    { type: 'resource', resource: { uri: 'file:///work/project/a%20b.js', text: 'unsaved' } },
    { type: 'resource', resource: { uri: 'zed:///rules', text: 'Be brief.' } },
    { type: 'resource_link', name: 'hosts', uri: 'file:///etc/hosts' },
    { type: 'resource_link', name: 'up', uri: 'file:///work/project/../other/x.js' },
    { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'file:///work/project/shot.gif', blob: 'R0lGODlh', mimeType: 'image/gif' } },
    { type: 'audio', data: '', mimeType: 'audio/wav' },
    { type: 'resource_link', name: 'odd', uri: 'file://host/%00' },
  ], '/work/project');
  expect(read.files).toEqual([{ path: 'src/sum.js', startLine: 3, endLine: 7 }, { path: 'a b.js' }]);
  expect(read.question).toBe('Why does src/sum.js fail? a b.js zed:///rules hosts up odd\n\nzed:///rules:\n\nBe brief.');
  expect(read.leftOut).toEqual(['hosts', 'up', 'a sound', 'odd']);
  expect(read.pictures).toEqual([{ data: 'iVBORw0KGgo=' }, { data: 'R0lGODlh' }]);
});

it('keeps sessions by ids of its own alone, and reads no file that is not one', async () => {
  const files = new SessionFiles(folder);
  const id = crypto.randomUUID();
  const session = { cwd: '/work/project', title: 'Why?', updatedAt: '2026-11-25T10:00:00Z', mode: 'ask' as const, review: 'never' as const, runs: ['r1'] };
  await files.write(id, session);
  expect(await files.read(id)).toEqual(session);
  await writeFile(path.join(folder, 'acp-sessions', `${crypto.randomUUID()}.json`), '{"cwd":7}');
  await writeFile(path.join(folder, 'acp-sessions', 'notes.txt'), '');
  expect(await files.list()).toEqual([{ id, ...session }]);
  expect(await files.read(`../acp-sessions/${id}`)).toBeUndefined();
  await files.remove(id);
  expect(await files.list()).toEqual([]);
});
