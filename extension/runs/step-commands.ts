import path from 'node:path';
import * as vscode from 'vscode';
import { isOver, type RunSnapshot, type StepView } from '../../backend/protocol/run-snapshot.ts';
import { MAX_STEP_WORDS } from '../../backend/protocol/step-words.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { NextStepError } from '../common/next-step.ts';
import { plainLabel } from '../common/plain-message.ts';
import { SCHEMES, type VirtualDocuments } from '../common/virtual-documents.ts';
import type { RunStore } from './run-store.ts';
import { stepLabel } from './step-label.ts';

/** A step of a round. Both count from 0. */
export interface StepRef {
  readonly runId: string;
  readonly round: number;
  readonly step: number;
}

export interface StepCommandOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly runs: Pick<RunStore, 'run'>;
  readonly documents: Pick<VirtualDocuments, 'put' | 'remove'>;
}

/** What a person does with one step of the open run: stop it, tell its worker something, look at its change. Without a step they ask for it. */
export class StepCommands {
  readonly #options: StepCommandOptions;
  /** The documents of each diff that is open, by its title. */
  readonly #open = new Map<string, readonly vscode.Uri[]>();

  constructor(options: StepCommandOptions) {
    this.#options = options;
  }

  /** Lets go of the texts of a diff that is closed. */
  watch(): vscode.Disposable {
    return vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      for (const { label } of closed) {
        // VS Code appends the number of files.
        const title = [...this.#open.keys()].find((one) => label.startsWith(one));
        if (title !== undefined) this.#forget(title);
      }
    });
  }

  async stop(place?: StepRef): Promise<void> {
    const meant = place ?? (await this.#pick(vscode.l10n.t('Conductor: Stop Step'), vscode.l10n.t('The run goes on with what the step has.'), isAtWork));
    if (meant) await this.#options.connection.request('run/stopStep', placeOf(meant));
  }

  async tell(place?: StepRef, text?: string): Promise<void> {
    const meant = place ?? (await this.#pick(
      vscode.l10n.t('Conductor: Tell Step'), vscode.l10n.t('Its worker reads it at its next turn.'), (step, run) => isAtWork(step, run) && run.pool[step.worker]?.hands !== undefined,
    ));
    if (!meant) return;
    const words = text ?? (await vscode.window.showInputBox({
      title: vscode.l10n.t('Conductor: Tell Step'), prompt: vscode.l10n.t('Its worker reads it at its next turn.'), ignoreFocusOut: true,
      validateInput: (value) => (value.trim().length > MAX_STEP_WORDS ? vscode.l10n.t('At most {0} characters.', MAX_STEP_WORDS) : undefined),
    }));
    if (words === undefined || words.trim() === '') return;
    await this.#options.connection.request('run/tellStep', { ...placeOf(meant), text: words.trim() });
  }

  /** Opens what a step changed as a diff against the workspace as it is now. @throws NextStepError if it changed nothing */
  async showChange(place?: StepRef): Promise<void> {
    const meant = place ?? (await this.#pick(
      vscode.l10n.t('Conductor: Show Change of Step'), vscode.l10n.t('Opens as a diff against the workspace.'), ({ output, turns = [] }) => output !== undefined || turns.length > 0,
    ));
    if (!meant) return;
    const { connection, runs, documents } = this.#options;
    const { runId, round, step } = meant;
    const run = runs.run?.runId === runId ? runs.run : (await connection.request('run/get', { runId })).run;
    const { edits, refused } = await connection.request('run/stepEdits', placeOf(meant));
    const left = refused.map((one) => vscode.l10n.t('Not shown: {0}. {1}', one.path, one.reason));
    if (edits.length === 0) throw new NextStepError([vscode.l10n.t('Step {0} changes nothing.', step + 1), ...left].join(' '));
    const folder = run.request.workspace ?? '';
    const title = vscode.l10n.t('Conductor: change of step {0}, round {1}', step + 1, round + 1);
    const resources = edits.map(({ path: file, before, after }): [vscode.Uri, vscode.Uri, vscode.Uri] => {
      const uri = vscode.Uri.file(path.join(folder, file));
      const side = (scheme: string, text: string | null): vscode.Uri => {
        const sideUri = vscode.Uri.from({ scheme, path: uri.path, query: `${runId}-${round}-${step}` });
        documents.put(sideUri, text ?? '');
        return sideUri;
      };
      return [uri, side(SCHEMES.before, before), side(SCHEMES.after, after)];
    });
    this.#open.set(title, resources.flatMap(([, before, after]) => [before, after]));
    await vscode.commands.executeCommand('vscode.changes', title, resources);
    if (left.length > 0) void vscode.window.showInformationMessage(left.map(plainLabel).join(' '));
  }

  #forget(title: string): void {
    for (const uri of this.#open.get(title) ?? []) this.#options.documents.remove(uri);
    this.#open.delete(title);
  }

  /** @throws NextStepError if no step of the open run fits */
  async #pick(title: string, placeHolder: string, fits: (step: StepView, run: RunSnapshot) => boolean): Promise<StepRef | undefined> {
    const { run } = this.#options.runs;
    if (!run) throw new NextStepError(vscode.l10n.t('No run is open: ask a question, or open a past run.'));
    const steps = run.rounds.flatMap(({ index: round, steps: all }) => all.filter((step) => fits(step, run)).map((step) => ({ runId: run.runId, round, step })));
    const [only, ...others] = steps;
    if (!only) throw new NextStepError(vscode.l10n.t('No step of the run can be meant now.'));
    if (others.length === 0) return { ...only, step: only.step.index };
    const picked = await vscode.window.showQuickPick(steps.map(({ round, step }) => ({
      place: { runId: run.runId, round, step: step.index },
      label: stepLabel(run, { round, step: step.index }),
      description: run.pool[step.worker]?.id ?? '',
      detail: plainLabel(step.subtask.replace(/\s+/g, ' ').trim()),
    })), { title, placeHolder });
    return picked?.place;
  }
}

const isAtWork = (step: StepView, run: RunSnapshot): boolean => !isOver(run.state) && step.state === 'running' && !step.stopped;
/** A message of the page has more fields. */
const placeOf = ({ runId, round, step }: StepRef): StepRef => ({ runId, round, step });
