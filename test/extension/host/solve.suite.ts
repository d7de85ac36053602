import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { answerOf, isOver, type RunSnapshot } from '../../../backend/protocol/run-snapshot.ts';
import { workersFileSchema } from '../../../backend/protocol/worker-config.ts';
import { writeSampleProject, type SampleProject } from '../../../backend/simulator/sample-project.ts';
import { SimulatorServer } from '../../../backend/simulator/server.ts';
import { openExtension, openFolder } from './open-extension.ts';

const SEED = 1;

export function solveSuite(): void {
  describe('Solve, with simulated workers and everything else real', () => {
    let home: string;
    let simulator: SimulatorServer;
    let project: SampleProject;
    const workspace = (): string => openFolder().fsPath;
    const source = (): Promise<string> => readFile(path.join(workspace(), project.path), 'utf8');

    before(async () => {
      assert.deepEqual(await readdir(workspace()), [], 'the suite wants an empty folder open, to write a project into');
      home = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-host-')));
      simulator = await SimulatorServer.start({ seed: SEED });
      const workers = workersFileSchema.parse(simulator.workersFile());
      await writeFile(path.join(home, 'workers.json'), JSON.stringify(workers));
      await vscode.workspace.getConfiguration('conductor').update('home', home, vscode.ConfigurationTarget.Global);
      project = await writeSampleProject(workspace(), { seed: SEED });
    });
    after(async () => {
      await vscode.commands.executeCommand('conductor.stopBackend');
      await simulator.close();
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await vscode.workspace.getConfiguration('conductor').update('home', undefined, vscode.ConfigurationTarget.Global);
      await rm(home, { recursive: true, force: true });
      for (const entry of await readdir(workspace())) await rm(path.join(workspace(), entry), { recursive: true });
    });

    it('refuses an empty question and starts no run', async () => {
      const { run } = await openExtension();
      assert.equal(await solve('  \n'), undefined);
      assert.equal(run(), undefined);
    });

    it('comes back with an answer, or says honestly that it has none', async () => {
      const runId = await solve(project.question);
      assert.equal(typeof runId, 'string');
      const run = await runThat((candidate) => candidate.runId === runId && isOver(candidate.state));
      assert.equal(run.state, 'completed', run.message);
      assert.ok(run.pool.every(({ simulated }) => simulated));
      assert.equal(run.request.workspace, workspace());
      assert.ok(answerOf(run));
      assert.ok(run.rounds.at(-1)?.verdict, 'the project’s tests had their say');
    });

    it('applies the answer once it is accepted, and undoes it', async () => {
      const { run } = await openExtension();
      const shown = run();
      const edits = shown && answerOf(shown)?.round.answer?.edits;
      assert.deepEqual(edits?.map((edit) => edit.path), [project.path]);
      const original = await source();

      const reviewing = tabThat(({ label }) => label.startsWith('Conductor'));
      const review = vscode.commands.executeCommand('conductor.applyAnswer');
      await reviewing;
      assert.equal(await source(), original, 'nothing changes before the answer is accepted');
      await vscode.commands.executeCommand('conductor.acceptAnswer');
      await review;
      assert.notEqual(await source(), original);

      await vscode.commands.executeCommand('conductor.undoAnswer');
      assert.equal(await source(), original);
    });

    it('changes nothing when the answer is rejected', async () => {
      const original = await source();
      const reviewing = tabThat(({ label }) => label.startsWith('Conductor'));
      const review = vscode.commands.executeCommand('conductor.applyAnswer');
      await reviewing;
      await vscode.commands.executeCommand('conductor.rejectAnswer');
      await review;
      assert.equal(await source(), original);
    });

    it('inserts code of the answer at the cursor', async () => {
      const { run } = await openExtension();
      const shown = run();
      assert.ok(shown);
      const document = await vscode.workspace.openTextDocument({ content: '', language: 'javascript' });
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand('conductor.copyAnswer');
      assert.equal(await vscode.env.clipboard.readText(), answerOf(shown)?.text);
    });

    it('cancels a run', async () => {
      const runId = await solve(project.question);
      await runThat((run) => run.runId === runId && run.rounds[0]?.planAttempt !== undefined);
      await vscode.commands.executeCommand('conductor.cancel');
      const run = await runThat((candidate) => isOver(candidate.state));
      assert.equal(run.state, 'cancelled');
    });
  });
}

async function solve(question: string): Promise<string | undefined> {
  return vscode.commands.executeCommand<string | undefined>('conductor.solve', { question, confirmContext: false });
}

/** The open run, as soon as the condition holds for it. */
async function runThat(holds: (run: RunSnapshot) => boolean): Promise<RunSnapshot> {
  const { run, onDidChangeRun } = await openExtension();
  const now = run();
  if (now && holds(now)) return now;
  return new Promise((resolve) => {
    const subscription = onDidChangeRun((changed) => {
      if (!changed || !holds(changed)) return;
      subscription.dispose();
      resolve(changed);
    });
  });
}

function tabThat(holds: (tab: vscode.Tab) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const subscription = vscode.window.tabGroups.onDidChangeTabs(({ opened, changed }) => {
      if (![...opened, ...changed].some(holds)) return;
      subscription.dispose();
      resolve();
    });
  });
}
