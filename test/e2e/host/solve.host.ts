/// <reference types="mocha" />
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { answerOf } from '../../../backend/protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../../../backend/protocol/run-snapshot.ts';
import type { SampleProject } from '../../../backend/simulator/sample-project.ts';
import type { ConductorApi } from '../../../extension/extension.ts';
import { EXTENSION, openSampleWindow, type SampleWindow } from './sample-window.ts';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

describe('Conductor in the extension host', () => {
  let window: SampleWindow;
  let home: string;
  let project: string;
  let bug: SampleProject;
  let conductor: ConductorApi;

  before(async () => {
    window = await openSampleWindow();
    ({ home, project, bug, conductor } = window);
  });

  after(() => window.close());

  it('starts no backend before something needs it', () => {
    assert.equal(existsSync(path.join(home, 'backend.json')), false);
  });

  it('registers every command of its manifest', async () => {
    const { contributes } = vscode.extensions.getExtension(EXTENSION)?.packageJSON as Manifest;
    const registered = new Set(await vscode.commands.getCommands(true));
    const missing = contributes.commands.map(({ command }) => command).filter((command) => !registered.has(command));
    assert.deepEqual(missing, []);
  });

  it('turns a question into a verified answer', async () => {
    const question = { question: bug.question, confirmContext: false };
    const runId = await vscode.commands.executeCommand<string>('conductor.solve', question);
    const run = await ended(conductor, runId);
    assert.equal(run.state, 'completed', run.message);
    assert.equal(run.outcome, 'verified', answerOf(run)?.round.verdict?.reason);
    assert.deepEqual(answerOf(run)?.round.answer?.edits.map((edit) => edit.path), [bug.path]);
  });

  it('changes files when the answer is accepted, and takes it back', async () => {
    const file = path.join(project, bug.path);
    const before = await readFile(file, 'utf8');
    const reviewed = vscode.commands.executeCommand('conductor.applyAnswer');
    await tabCalled(/^Conductor’s answer/);
    assert.equal(await readFile(file, 'utf8'), before, 'a review changes nothing');
    await vscode.commands.executeCommand('conductor.acceptAnswer');
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    await reviewed;
    assert.notEqual(await readFile(file, 'utf8'), before);
    await vscode.commands.executeCommand('conductor.undoAnswer');
    assert.equal(await readFile(file, 'utf8'), before);
  });
});

/** The run once nothing of it goes on. */
function ended(conductor: ConductorApi, runId: string): Promise<RunSnapshot> {
  return new Promise((resolve) => {
    const check = (run: RunSnapshot | undefined): void => {
      if (run?.runId !== runId || !isOver(run.state)) return;
      subscription.dispose();
      resolve(run);
    };
    const subscription = conductor.onDidChangeRun(check);
    check(conductor.run());
  });
}

function tabCalled(label: RegExp): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (!vscode.window.tabGroups.all.some((group) => group.tabs.some((tab) => label.test(tab.label)))) return;
      subscription.dispose();
      resolve();
    };
    const subscription = vscode.window.tabGroups.onDidChangeTabs(check);
    check();
  });
}
