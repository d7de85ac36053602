import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { openExtension } from './open-extension.ts';

interface Manifest {
  readonly contributes: { readonly commands: readonly { command: string }[] };
}

export function activationSuite(): void {
  describe('activation', () => {
    it('registers every command of the manifest', async () => {
      await openExtension();
      const manifest = vscode.extensions.getExtension('conductor.conductor')?.packageJSON as Manifest;
      const registered = new Set(await vscode.commands.getCommands(true));
      assert.deepEqual(manifest.contributes.commands.map(({ command }) => command).filter((command) => !registered.has(command)), []);
    });

    it('starts no backend', async () => {
      const { test } = await openExtension();
      assert.equal(test.connectionState(), 'idle');
    });

    it('is shipped with the texts that its manifest refers to', async () => {
      const extension = vscode.extensions.getExtension('conductor.conductor');
      assert.ok(extension);
      const titles = JSON.parse(await readFile(vscode.Uri.joinPath(extension.extensionUri, 'package.nls.json').fsPath, 'utf8')) as object;
      assert.ok('command.solve.title' in titles);
    });
  });
}
