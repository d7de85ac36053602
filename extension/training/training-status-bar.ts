import * as vscode from 'vscode';
import { formatMoney, formatUsd } from '../../backend/protocol/figures.ts';
import { plainMessage } from '../common/plain-message.ts';
import type { TrainingSummary } from '../../backend/protocol/training.ts';
import { isUnderWay } from './trainings.ts';

/** A short status bar item that opens an active or paused training; hidden otherwise. */
export class TrainingStatusBar {
  readonly #item: vscode.StatusBarItem;
  /** A training changes many times a second, its text here only rarely. */
  #shown = '';

  constructor() {
    this.#item = vscode.window.createStatusBarItem('conductor.training', vscode.StatusBarAlignment.Left);
    this.#item.name = vscode.l10n.t('Conductor Training');
  }

  /** @param trainings newest first */
  update(trainings: readonly TrainingSummary[]): void {
    const training = trainings.find(isUnderWay) ?? trainings.find(({ state }) => state === 'paused');
    if (!training) {
      this.#shown = '';
      this.#item.hide();
      return;
    }
    const { trainingId, conductor, message, spentUsd, unpricedTokens, maxUsd, learnsFrom } = training;
    const label = learnsFrom ? stageOf(training) : vscode.l10n.t('{0}, {1}', stageOf(training), formatMoney({ usd: spentUsd, unpricedTokens }));
    const text = `${iconOf(training)} ${label}`;
    const tooltip = learnsFrom
      ? plainMessage(vscode.l10n.t('Training of "{0}": {1}', conductor, message))
      : vscode.l10n.t('Training of "{0}": {1} {2} of {3} spent.', conductor, message, formatMoney({ usd: spentUsd, unpricedTokens }), formatUsd(maxUsd));
    const shown = [trainingId, text, tooltip].join('\n');
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#item.text = text;
    this.#item.tooltip = tooltip;
    this.#item.accessibilityInformation = { label: vscode.l10n.t('Conductor training: {0}. Shows the training.', label) };
    this.#item.command = { command: SHOW_TRAINING, title: vscode.l10n.t('Show Training'), arguments: [trainingId] };
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** Not in the command palette: it requires an argument. */
export const SHOW_TRAINING = 'conductor.showTraining';

function iconOf({ state }: TrainingSummary): string {
  if (state === 'paused') return '$(debug-pause)';
  return state === 'waiting' ? '$(watch)' : '$(sync~spin)';
}

function stageOf({ state, step, steps }: TrainingSummary): string {
  switch (state) {
    case 'preparing': return vscode.l10n.t('preparing to train');
    case 'evaluating': return vscode.l10n.t('comparing what was trained');
    case 'waiting': return vscode.l10n.t('training waits, {0} of {1} steps', step, steps);
    case 'paused': return step === 0 ? vscode.l10n.t('training paused') : vscode.l10n.t('training paused, {0} of {1} steps', step, steps);
    default: return vscode.l10n.t('training, {0} of {1} steps', step, steps);
  }
}
