import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { formatMoney } from '../../backend/protocol/figures.ts';
import type { ClientRequests, ParamsInput, RunSummary } from '../../backend/protocol/methods.ts';
import { answerOf } from '../../backend/protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { askRunBudget } from './ask-run-budget.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { choosePool } from './choose-pool.ts';
import { codeBlocksOf } from '../common/code-blocks.ts';
import type { LookedAt } from '../common/looking-at.ts';
import { NextStepError, solveStep } from '../common/next-step.ts';
import { plainLabel } from '../common/plain-message.ts';
import { requireTrust } from '../common/require-trust.ts';
import { readSettings } from '../common/settings.ts';
import { leaveRunFor } from './run-for-folder.ts';
import type { RunList } from './run-list.ts';
import type { RunStore } from './run-store.ts';
import { stepLabel } from './step-label.ts';
import type { PoolStore } from '../workers/pool-store.ts';

export interface RunCommandOptions {
  readonly connection: BackendConnection;
  readonly runs: RunStore;
  readonly list: RunList;
  readonly poolStore: Pick<PoolStore, 'refresh'>;
  readonly panel: { readonly showRun: () => void };
  readonly lookedAt: Pick<LookedAt, 'editor'>;
  /** Shared by all windows. */
  readonly memory: vscode.Memento;
  readonly showPanel: () => Promise<void>;
}

/** The commands for runs and their answers. Without a run id they use the open run. */
export class RunCommands {
  readonly #options: RunCommandOptions;

  constructor(options: RunCommandOptions) {
    this.#options = options;
  }

  async cancel(runId?: string): Promise<void> {
    const id = runId ?? this.#openRun((run) => !isOver(run.state), vscode.l10n.t('No run is under way.')).runId;
    await this.#options.connection.request('run/cancel', { runId: id });
  }

  async resume(runId?: string): Promise<void> {
    const { connection, runs } = this.#options;
    const goesOn = (run: RunSnapshot): boolean => run.state !== 'running';
    const run = runId === undefined ? this.#openRun(goesOn, vscode.l10n.t('No run is open that could go on.')) : await this.#snapshot(runId);
    requireTrust(run.request.workspace);
    const budget = run.state === 'stopped' ? await askRunBudget(run) : {};
    if (!budget) return;
    await connection.request('run/resume', { runId: run.runId, budget });
    if (runs.run?.runId !== run.runId) await this.open(run.runId);
  }

  /** Lets the plan run that waits for a person. @throws an error with the backend's sentence */
  async approvePlan(decision: ParamsInput<ClientRequests, 'run/approvePlan'>): Promise<void> {
    requireTrust((await this.#snapshot(decision.runId)).request.workspace);
    await this.#options.connection.request('run/approvePlan', decision);
  }

  /** Asks the Conductor for another plan instead of the one that waits. @throws an error with the backend's sentence */
  async replan(decision: ParamsInput<ClientRequests, 'run/replan'>): Promise<void> {
    requireTrust((await this.#snapshot(decision.runId)).request.workspace);
    await this.#options.connection.request('run/replan', decision);
  }

  /** Says of tests that failed before whether they must pass, where the run waits for that. @throws an error with the backend's sentence */
  async decideFailedBefore(decision: ParamsInput<ClientRequests, 'run/decideFailedBefore'>): Promise<void> {
    requireTrust((await this.#snapshot(decision.runId)).request.workspace);
    await this.#options.connection.request('run/decideFailedBefore', decision);
  }

  /** Has the tests of the run's project count again in later questions that a person left out. */
  async takeBackLeftOut(runId: string): Promise<void> {
    const { request: { workspace } } = await this.#snapshot(runId);
    if (workspace !== undefined) await this.#options.connection.request('leftOut/takeBack', { workspace });
  }

  /**
   * Repeats one step in a new run that reuses the others, and opens it. Rounds and steps count from 0. Without a location, asks the user
   * for it.
   */
  async retryStep(place?: RetriedStep): Promise<void> {
    const over = (run: RunSnapshot): boolean => isOver(run.state);
    const run = place ? await this.#snapshot(place.runId) : this.#openRun(over, vscode.l10n.t('No run is open that is over.'));
    requireTrust(run.request.workspace);
    const picked = place ?? (await pickStep(run));
    if (!picked) return;
    const { round, step } = picked;
    const retried = await this.#options.connection.request('run/retry', { runId: run.runId, round, step });
    await this.open(retried.runId);
  }

  /** Repeats the run's question with workers that the user chooses, and opens the new run. */
  async again(runId?: string): Promise<void> {
    const { connection, poolStore } = this.#options;
    const over = (run: RunSnapshot): boolean => isOver(run.state);
    const run = runId === undefined ? this.#openRun(over, vscode.l10n.t('No run is open that is over.')) : await this.#snapshot(runId);
    const chosen = await choosePool(run, await poolStore.refresh());
    if (!chosen) return;
    const { reviewPlan } = readSettings();
    const asked = await connection.request('run/again', { runId: run.runId, ...chosen, trusted: vscode.workspace.isTrusted, ...(reviewPlan && { reviewPlan }) });
    await this.open(asked.runId);
  }

  /** Writes the run to a file: a readable document, or JSON. */
  async exportRun(runId?: string): Promise<void> {
    const id = runId ?? this.#openRun(() => true, vscode.l10n.t('No run is open: ask a question, or open a past run.')).runId;
    const { exportRun } = await import('./export-run.ts');
    const { connection, memory } = this.#options;
    await exportRun(id, { connection, memory });
  }

  /** Removes the run permanently, after a confirmation. @returns whether it was removed */
  async remove(runId?: string): Promise<boolean> {
    const over = (run: RunSnapshot): boolean => isOver(run.state);
    const run = runId === undefined ? this.#openRun(over, vscode.l10n.t('No run is open that is over.')) : await this.#snapshot(runId);
    if (!(await isRemovalMeant(run.request.question))) return false;
    await this.#options.connection.request('run/remove', { runId: run.runId });
    return true;
  }

  async open(runId: string): Promise<RunSnapshot> {
    const { runs, panel, showPanel } = this.#options;
    const [run] = await Promise.all([runs.open(runId), showPanel()]);
    panel.showRun();
    return run;
  }

  /** Opens the run's folder in its own window, which shows the run and can apply its answer. */
  async openFolder(runId: string): Promise<void> {
    const { workspace } = (await this.#snapshot(runId)).request;
    if (workspace === undefined) throw new Error(vscode.l10n.t('The question was asked without a folder.'));
    if (!existsSync(workspace)) throw new Error(vscode.l10n.t('The folder {0} is not there any more.', workspace));
    await leaveRunFor(this.#options.memory, { folder: workspace, runId });
    await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(workspace), { forceNewWindow: true });
  }

  /** Solves the bug of a sample project with simulated workers, for users without a worker. */
  async demonstrate(): Promise<void> {
    const { connection, poolStore } = this.#options;
    if ((await poolStore.refresh()).workers.some(({ worker }) => worker.enabled)) {
      throw new NextStepError(vscode.l10n.t('You have a worker now, so nothing is simulated any more.'), solveStep());
    }
    const { runId } = await connection.request('run/demonstrate', {});
    await this.open(runId);
  }

  /** Opens the run of this id if necessary; without an id returns the open run. */
  async runOf(runId?: string): Promise<RunSnapshot> {
    const { runs } = this.#options;
    if (runId !== undefined && runs.run?.runId !== runId) return this.open(runId);
    return this.#openRun(() => true, vscode.l10n.t('No run is open: ask a question, or open a past run.'));
  }

  /** Lists past runs and opens the selected one in the panel. */
  async showRuns(): Promise<void> {
    const runs = await this.#options.list.refresh();
    if (runs.length === 0) throw new NextStepError(vscode.l10n.t('There are no runs yet.'), solveStep());
    const picked = await vscode.window.showQuickPick(runs.map(itemOf), {
      title: vscode.l10n.t('Conductor: Past Runs'), placeHolder: vscode.l10n.t('Opens in the panel'), matchOnDetail: true,
    });
    if (picked) await this.open(picked.runId);
  }

  async copyAnswer(text = this.#answer()): Promise<void> {
    await vscode.env.clipboard.writeText(text);
    vscode.window.setStatusBarMessage(vscode.l10n.t('Conductor: copied'), 3_000);
  }

  /** Inserts code at the cursors of the active editor: the given text, or a code block of the open run's answer. */
  async insertAnswer(text?: string): Promise<void> {
    const code = text ?? (await pickCode(this.#answer()));
    if (code === undefined) return;
    const lookedAt = this.#options.lookedAt.editor;
    if (!lookedAt) throw new NextStepError(vscode.l10n.t('No editor is open: open a file and put the cursor where the code belongs.'));
    const editor = await inSight(lookedAt);
    const done = await editor.edit((edit) => {
      for (const selection of editor.selections) edit.replace(selection, code);
    });
    if (!done) throw new Error(vscode.l10n.t('The editor took no text: it is read-only.'));
    await vscode.window.showTextDocument(editor.document, editor.viewColumn);
  }

  #answer(): string {
    const run = this.#openRun(() => true, vscode.l10n.t('No run is open: ask a question, or open a past run.'));
    const answer = answerOf(run);
    if (!answer) throw new NextStepError(vscode.l10n.t('The run has no answer yet.'));
    return answer.text;
  }

  /** The current state of the run, open or not. */
  async #snapshot(runId: string): Promise<RunSnapshot> {
    const { connection, runs } = this.#options;
    return runs.run?.runId === runId ? runs.run : (await connection.request('run/get', { runId })).run;
  }

  #openRun(fits: (run: RunSnapshot) => boolean, otherwise: string): RunSnapshot {
    const { run } = this.#options.runs;
    if (!run || !fits(run)) throw new NextStepError(otherwise);
    return run;
  }
}

/** A step of a round. Both count from 0. */
export interface RetriedStep {
  readonly runId: string;
  readonly round: number;
  readonly step: number;
}

async function isRemovalMeant(question: string): Promise<boolean> {
  const remove = vscode.l10n.t('Remove Run');
  const asked = plainLabel(question.replace(/\s+/g, ' ').trim()).slice(0, 120);
  const detail = vscode.l10n.t(
    '“{0}”\nThe plan, the answers and the results of the tests are deleted from this machine. What it cost still counts for its day.', asked,
  );
  return (await vscode.window.showWarningMessage(vscode.l10n.t('Remove this run for good?'), { modal: true, detail }, remove)) === remove;
}

async function pickStep(run: RunSnapshot): Promise<RetriedStep | undefined> {
  const steps = run.rounds.flatMap((round) => round.steps.map(({ index, worker, subtask }) => ({
    runId: run.runId, round: round.index, step: index,
    label: stepLabel(run, { round: round.index, step: index }),
    description: run.pool[worker]?.id ?? '',
    detail: plainLabel(subtask.replace(/\s+/g, ' ').trim()),
  })));
  if (steps.length === 0) throw new NextStepError(vscode.l10n.t('The run has no step yet.'));
  return vscode.window.showQuickPick(steps, {
    title: vscode.l10n.t('Conductor: Retry Step'), placeHolder: vscode.l10n.t('The step and the steps that read it run again; the rest is kept.'),
  });
}

/** An editor that is hidden behind another tab, such as the panel's, accepts no text. */
async function inSight(editor: vscode.TextEditor): Promise<vscode.TextEditor> {
  if (vscode.window.visibleTextEditors.includes(editor)) return editor;
  const { document, selection, viewColumn } = editor;
  return vscode.window.showTextDocument(document, { selection, ...(viewColumn !== undefined && { viewColumn }) });
}

async function pickCode(answer: string): Promise<string | undefined> {
  const blocks = codeBlocksOf(answer);
  if (blocks.length <= 1) return blocks[0]?.code ?? answer;
  const picked = await vscode.window.showQuickPick(blocks.map(({ language, code }) => ({
    code,
    label: code.trim().split('\n', 1)[0] ?? '',
    description: [language, vscode.l10n.t('{0} lines', code.split('\n').length - 1)].filter(Boolean).join(' · '),
  })), { placeHolder: vscode.l10n.t('Which code do you want to insert?') });
  return picked?.code;
}

function itemOf(run: RunSummary): vscode.QuickPickItem & { runId: string } {
  const when = new Date(run.acceptedAt).toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' });
  return {
    runId: run.runId,
    label: `${iconOf(run)} ${run.question.replace(/\s+/g, ' ').slice(0, 120)}`,
    detail: [stateOf(run), when, formatMoney(run), ...(run.simulated ? [vscode.l10n.t('simulated')] : [])].join(' · '),
  };
}

function iconOf({ state, outcome }: RunSummary): string {
  switch (state) {
    case 'running': return '$(sync~spin)';
    case 'waiting': return '$(bell)';
    case 'completed': return outcome === 'verified' ? '$(pass)' : outcome === 'answered' ? '$(check)' : '$(circle-outline)';
    case 'failed': return '$(error)';
    case 'stopped': return '$(debug-pause)';
    case 'cancelled': return '$(circle-slash)';
  }
}

function stateOf({ state, outcome }: RunSummary): string {
  switch (state) {
    case 'running': return vscode.l10n.t('running');
    case 'waiting': return vscode.l10n.t('waiting for you');
    case 'failed': return vscode.l10n.t('failed');
    case 'stopped': return vscode.l10n.t('stopped');
    case 'cancelled': return vscode.l10n.t('cancelled');
    case 'completed':
      if (outcome === 'verified') return vscode.l10n.t('verified');
      if (outcome === 'passes') return vscode.l10n.t('tests pass, not verified');
      if (outcome === 'answered') return vscode.l10n.t('answered');
      return outcome === 'unchecked' ? vscode.l10n.t('unchecked') : vscode.l10n.t('not verified');
  }
}
