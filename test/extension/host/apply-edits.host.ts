/// <reference types="mocha" />
import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as vscode from 'vscode';
import type { FileEdit } from '../../../backend/protocol/methods.ts';
import { applyEdits, EditConflictError, placeEdits, undoEdits, type PlacedEdit } from '../../../extension/runs/apply-edits.ts';

const BEFORE = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const AFTER = 'one\ntwo\nTHREE\nfour\nfive\nsix\nseven\n';

describe('applying and undoing edits', () => {
  let folder: vscode.Uri;
  let tests = 0;
  const file = (name: string): vscode.Uri => vscode.Uri.joinPath(folder, name);
  const modify = (path: string, before = BEFORE, after = AFTER): FileEdit => ({ path, kind: 'modify', before, after });
  const placed = async (...edits: FileEdit[]): Promise<PlacedEdit[]> => {
    const { placed: found, refused } = await placeEdits(folder, edits);
    assert.deepEqual(refused, []);
    return found;
  };
  const exists = async (uri: vscode.Uri): Promise<boolean> => vscode.workspace.fs.stat(uri).then(() => true, () => false);

  beforeEach(async () => {
    const [open] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(open, 'the suite runs with a folder open');
    // Of its own for each test: VS Code may keep the text of a file for a while after it was closed, and changed or deleted on disk.
    tests += 1;
    folder = vscode.Uri.joinPath(open.uri, `apply-edits-${tests}`);
    await vscode.workspace.fs.createDirectory(folder);
    await writeText(file('a.txt'), BEFORE);
  });
  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.workspace.fs.delete(folder, { recursive: true });
  });

  it('changes, creates and deletes files in one step, and undoes all of it', async () => {
    await writeText(file('gone.txt'), 'old\r\ntext');
    const edits = await placed(
      modify('a.txt'),
      { path: 'new/b.txt', kind: 'create', before: null, after: 'new\n' },
      { path: 'gone.txt', kind: 'delete', before: 'old\r\ntext', after: null },
    );
    await applyEdits(edits);
    assert.equal(await readText(file('a.txt')), AFTER);
    assert.equal(await readText(file('new/b.txt')), 'new\n');
    assert.equal(await exists(file('gone.txt')), false);

    await undoEdits(edits);
    assert.equal(await readText(file('a.txt')), BEFORE);
    assert.equal(await exists(file('new/b.txt')), false);
    assert.equal(await readText(file('gone.txt')), 'old\r\ntext');
  });

  it('keeps Windows line ends and a byte order mark', async () => {
    const windows = (text: string): string => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
    await writeText(file('a.txt'), windows(BEFORE));
    const edits = await placed(modify('a.txt', windows(BEFORE), AFTER));
    await applyEdits(edits);
    assert.equal(await readText(file('a.txt')), windows(AFTER));
    await undoEdits(edits);
    assert.equal(await readText(file('a.txt')), windows(BEFORE));
  });

  it('changes nothing at all when one file has changed on disk since', async () => {
    await writeText(file('b.txt'), 'typed since\n');
    const edits = await placed(modify('a.txt'), modify('b.txt'));
    await assert.rejects(applyEdits(edits), (error) => {
      assert.ok(error instanceof EditConflictError);
      assert.deepEqual(error.obstacles.map(({ path }) => path), ['b.txt']);
      return true;
    });
    assert.equal(await readText(file('a.txt')), BEFORE);
  });

  it('refuses to write over what is typed and not saved yet', async () => {
    const editor = await vscode.window.showTextDocument(file('a.txt'));
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'typing '));
    await assert.rejects(applyEdits(await placed(modify('a.txt'))), EditConflictError);
    assert.equal(editor.document.getText(), `typing ${BEFORE}`);
    assert.ok(editor.document.isDirty);
  });

  it('refuses to create a file that exists by now', async () => {
    const edits = await placed({ path: 'a.txt', kind: 'create', before: null, after: 'mine\n' });
    await assert.rejects(applyEdits(edits), EditConflictError);
    assert.equal(await readText(file('a.txt')), BEFORE);
  });

  it('undoes its own lines and keeps what was typed elsewhere, saved or not', async () => {
    const edits = await placed(modify('a.txt'));
    await applyEdits(edits);
    const editor = await vscode.window.showTextDocument(file('a.txt'));
    await editor.edit((edit) => edit.insert(new vscode.Position(6, 0), 'typed\n'));
    await undoEdits(edits);
    assert.equal(editor.document.getText(), BEFORE.replace('seven', 'typed\nseven'));
  });

  it('refuses to undo where the applied lines were edited since', async () => {
    const edits = await placed(modify('a.txt'));
    await applyEdits(edits);
    await writeText(file('a.txt'), AFTER.replace('THREE', 'THREE and more'));
    await assert.rejects(undoEdits(edits), EditConflictError);
    assert.equal(await readText(file('a.txt')), AFTER.replace('THREE', 'THREE and more'));
  });

  it('places no edit outside the folder', async () => {
    await symlink(tmpdir(), file('link').fsPath);
    const outside = ['../escape.txt', '/etc/passwd', 'link/escape.txt'];
    const { placed: found, refused } = await placeEdits(folder, outside.map((path) => modify(path)));
    assert.deepEqual(found, []);
    assert.deepEqual(refused.map(({ path }) => path), outside);
  });
});

async function writeText(uri: vscode.Uri, text: string): Promise<void> {
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
}

async function readText(uri: vscode.Uri): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await vscode.workspace.fs.readFile(uri));
}
