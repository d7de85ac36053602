import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ConductorApi, TestParts } from '../../../extension/extension.ts';

export async function openExtension(): Promise<ConductorApi & { test: TestParts }> {
  const extension = vscode.extensions.getExtension<ConductorApi>('conductor.conductor');
  assert.ok(extension, 'VS Code has loaded the extension');
  const api = await extension.activate();
  const { test } = api;
  assert.ok(test, 'the extension knows that it is being tested');
  return { ...api, test };
}

export function openFolder(): vscode.Uri {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder, 'the suite runs with a folder open');
  return folder.uri;
}

export async function writeText(uri: vscode.Uri, text: string): Promise<void> {
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
}

export async function readText(uri: vscode.Uri): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await vscode.workspace.fs.readFile(uri));
}
