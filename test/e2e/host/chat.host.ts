/// <reference types="mocha" />
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { sourceWith } from '../../../backend/simulator/families/family.ts';
import { bugOf, type SampleProject } from '../../../backend/simulator/sample-project.ts';
import { openSampleWindow, SEED, type SampleWindow } from './sample-window.ts';

interface RunFields {
  readonly runId: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly verified: boolean;
  readonly edits: readonly string[];
}

describe('Conductor\'s tools in VS Code', () => {
  let window: SampleWindow;
  let project: string;
  let bug: SampleProject;
  let source: string;

  before(async () => {
    window = await openSampleWindow();
    ({ project, bug } = window);
    source = await readFile(path.join(project, bug.path), 'utf8');
  });

  after(async () => {
    await rm(path.join(project, '.git'), { recursive: true, force: true });
    await window.close();
  });

  it('are offered to every agent, with what they are for', () => {
    const ours = vscode.lm.tools.filter(({ tags }) => tags.includes('conductor'));
    assert.deepEqual(ours.map(({ name }) => name).sort(), ['conductor_runs', 'conductor_solve', 'conductor_verify']);
    for (const { description, inputSchema } of ours) {
      assert(description.length > 80);
      assert(inputSchema);
    }
  });

  let solved: RunFields;

  // VS Code says yes to confirmations in suites. test/e2e/flows/chat.test.ts answers them itself.
  it('solve: a question becomes a verified change, and no file changes', async () => {
    const { text, fields } = await call<RunFields>('conductor_solve', { question: bug.question });
    solved = fields;
    assert.equal(fields.state, 'completed', text);
    assert.equal(fields.outcome, 'verified', text);
    assert.equal(fields.verified, true);
    assert.deepEqual(fields.edits, [bug.path]);
    assert.match(text, /VERIFIED/);
    assert.match(text, /^\+/m, 'the change is there as a diff');
    assert.equal(await readFile(path.join(project, bug.path), 'utf8'), source);
  });

  it('solve: a question can go on from the answer of a run', async () => {
    const { text, fields } = await call<RunFields>('conductor_solve', { question: 'Explain the change.', continues: solved.runId });
    assert.equal(fields.state, 'completed', text);
    const { runs } = (await call<{ runs: { runId: string }[] }>('conductor_runs', {})).fields;
    assert.deepEqual(runs.map(({ runId }) => runId), [fields.runId, solved.runId]);
  });

  it('runs: one run is shown with its answer', async () => {
    const { text, fields } = await call<RunFields>('conductor_runs', { runId: solved.runId });
    assert.deepEqual(fields, solved);
    assert.match(text, new RegExp(solved.runId));
  });

  it('runs: a search finds nothing where there is nothing', async () => {
    const { text } = await call('conductor_runs', { search: 'no question says this' });
    assert.equal(text, 'No runs yet.');
  });

  it('verify: judges what the person changed by the project\'s tests', async () => {
    git('init', '--quiet');
    git('add', '.');
    git('-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '--quiet', '--message', 'The bug');
    const { family } = bugOf(SEED);
    await writeFile(path.join(project, bug.path), sourceWith(family, []) ?? '');
    const mended = await call<{ outcome: string; verified: boolean }>('conductor_verify', {});
    assert.equal(mended.fields.outcome, 'verified', mended.text);
    assert.equal(mended.fields.verified, true);
    await writeFile(path.join(project, bug.path), source);
    const unchanged = await call<{ outcome: string }>('conductor_verify', {});
    assert.equal(unchanged.fields.outcome, 'refused', unchanged.text);
  });

  it('say in a sentence what is wrong with a call', async () => {
    await assert.rejects(call('conductor_solve', {}), /question/);
    await assert.rejects(call('conductor_solve', { question: 'Why?', folder: '/somewhere/else' }), /is not in a folder that is open/);
    await assert.rejects(call('conductor_runs', { runId: 'none' }));
  });

  it('solve: cancelling the call cancels the run', async () => {
    const cancellation = new vscode.CancellationTokenSource();
    const running = new Promise<string>((resolve) => {
      const subscription = window.conductor.onDidChangeRun((run) => {
        if (run?.state !== 'running') return;
        subscription?.dispose();
        resolve(run.runId);
      });
    });
    const called = call('conductor_solve', { question: bug.question }, cancellation.token);
    const runId = await running;
    cancellation.cancel();
    await assert.rejects(called);
    let { state } = (await call<RunFields>('conductor_runs', { runId })).fields;
    while (state === 'running') ({ state } = (await call<RunFields>('conductor_runs', { runId })).fields);
    assert.equal(state, 'cancelled');
  });

  it('verify: cancelling the call ends the tests', async () => {
    await writeFile(path.join(project, bug.path), sourceWith(bugOf(SEED).family, []) ?? '');
    const cancellation = new vscode.CancellationTokenSource();
    const called = call('conductor_verify', {}, cancellation.token);
    setTimeout(() => cancellation.cancel(), 300);
    await assert.rejects(called);
  });

  function git(...args: string[]): void {
    execFileSync('git', args, { cwd: project });
  }
});

/** Calls a tool through VS Code, as an agent does. */
async function call<T>(name: string, input: object, token?: vscode.CancellationToken): Promise<{ readonly text: string; readonly fields: T }> {
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, token);
  const [text = '', json = '{}'] = content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : ''));
  return { text, fields: JSON.parse(json) as T };
}
