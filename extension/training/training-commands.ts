import * as vscode from 'vscode';
import type { TrainingAction } from '../../backend/protocol/panel-messages.ts';
import type { TrainingSummary } from '../../backend/protocol/training.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { plainMessage } from '../common/plain-message.ts';
import { requireTrust } from '../common/require-trust.ts';
import { askTrainingLimits } from './training-budget.ts';
import type { Trainings } from './trainings.ts';

export interface TrainingCommandOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly trainings: Trainings;
  readonly panel: { readonly showTraining: () => void };
  readonly showPanel: () => Promise<void>;
  readonly isPanelVisible: () => boolean;
}

/** Commands of the panel's training buttons, and notifications about trainings. */
export class TrainingCommands {
  readonly #options: TrainingCommandOptions;

  constructor(options: TrainingCommandOptions) {
    this.#options = options;
  }

  /** @throws RequestError with the backend's sentence if the training cannot do this now */
  async act(action: TrainingAction, trainingId: string): Promise<void> {
    const { connection } = this.#options;
    switch (action) {
      case 'open':
        return this.open(trainingId);
      case 'pause':
        await connection.request('training/pause', { trainingId });
        return;
      case 'resume':
        return this.#resume(trainingId);
      case 'raiseBudget':
        return this.#raiseBudget(trainingId);
      case 'finish':
        return this.#finish(trainingId);
      case 'cancel':
        if (await isCancelMeant()) await connection.request('training/cancel', { trainingId });
        return;
      case 'adopt':
        await connection.request('training/adopt', { trainingId });
        return;
      case 'goBack':
        await connection.request('training/goBack', { trainingId });
        return;
      case 'remove':
        if (await isRemovalMeant()) await connection.request('training/remove', { trainingId });
        return;
    }
  }

  /** Asks for a higher limit if a limit stopped the training: it would stop at the same call again. */
  async #resume(trainingId: string): Promise<void> {
    const training = this.#known(trainingId);
    if (training?.stopped) return this.#raiseBudget(trainingId);
    requireTrust(training?.workspace);
    await this.#options.connection.request('training/resume', { trainingId });
  }

  /** Ends it after the finished steps and compares the result. */
  async #finish(trainingId: string): Promise<void> {
    requireTrust(this.#known(trainingId)?.workspace);
    if (await isEndMeant()) await this.#options.connection.request('training/finish', { trainingId });
  }

  /** Continues with a new maximum cost. */
  async #raiseBudget(trainingId: string): Promise<void> {
    const training = this.#known(trainingId);
    if (!training) return;
    requireTrust(training.workspace);
    const budget = await askTrainingLimits(training);
    if (budget) await this.#options.connection.request('training/resume', { trainingId, budget });
  }

  #known(trainingId: string): Pick<TrainingSummary, 'workspace' | 'stopped' | 'maxUsd'> | undefined {
    const { list, open } = this.#options.trainings;
    if (open?.trainingId === trainingId) return { ...open, maxUsd: open.config.budget.usd };
    return list.find((one) => one.trainingId === trainingId);
  }

  /** Notifies that a training is over or paused, unless the panel shows it. */
  async tell({ trainingId, conductor, message }: TrainingSummary): Promise<void> {
    const { trainings, isPanelVisible } = this.#options;
    if (isPanelVisible() && trainings.open?.trainingId === trainingId) return;
    const show = vscode.l10n.t('Show Training');
    const news = plainMessage(vscode.l10n.t('Training of "{0}": {1}', conductor, message));
    if ((await vscode.window.showInformationMessage(news, show)) === show) await this.open(trainingId);
  }

  async open(trainingId: string): Promise<void> {
    const { trainings, panel, showPanel } = this.#options;
    await Promise.all([trainings.show(trainingId), showPanel()]);
    panel.showTraining();
  }
}

/** No further steps follow. */
async function isEndMeant(): Promise<boolean> {
  const compare = vscode.l10n.t('Compare Now');
  const detail = vscode.l10n.t('It ends with the steps done so far. The result is compared on the held-out tasks and offered to you.');
  return (await vscode.window.showWarningMessage(vscode.l10n.t('End this training early?'), { modal: true, detail }, compare)) === compare;
}

/** Unlike a pause, this is permanent. */
async function isCancelMeant(): Promise<boolean> {
  const cancel: vscode.MessageItem = { title: vscode.l10n.t('Cancel Training') };
  // The dialog's built-in "Cancel" would keep the training, which is confusing.
  const keep: vscode.MessageItem = { title: vscode.l10n.t('Keep Training'), isCloseAffordance: true };
  const detail = vscode.l10n.t('It cannot go on afterwards. To go on later, pause it.');
  return (await vscode.window.showWarningMessage(vscode.l10n.t('Cancel this training?'), { modal: true, detail }, cancel, keep)) === cancel;
}

async function isRemovalMeant(): Promise<boolean> {
  const remove = vscode.l10n.t('Remove Training');
  const detail = vscode.l10n.t('What it learned, its checkpoints and the texts of its runs are deleted from this machine.');
  return (await vscode.window.showWarningMessage(vscode.l10n.t('Remove this training for good?'), { modal: true, detail }, remove)) === remove;
}
