import * as vscode from 'vscode';
import type { PanelModel } from '../../backend/protocol/panel-messages.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { runProgress } from './run-progress.ts';

/** A short status bar item while a run is active. */
export class StatusBar {
  readonly #item: vscode.StatusBarItem;

  constructor() {
    this.#item = vscode.window.createStatusBarItem('conductor.run', vscode.StatusBarAlignment.Left);
    this.#item.name = vscode.l10n.t('Conductor');
    this.#item.command = 'conductor.showPanel';
  }

  /** @param models the local models of the run */
  update(run: RunSnapshot | undefined, models: readonly PanelModel[]): void {
    const progress = run && runProgress(run);
    if (!run || !progress) {
      this.#item.hide();
      return;
    }
    const loading = models.find(({ state }) => state === 'loading');
    const label = loading && !progress.waiting ? vscode.l10n.t('loading {0}', loading.name) : labelOf(progress);
    this.#item.text = `${progress.waiting ? '$(bell)' : '$(sync~spin)'} ${label}`;
    this.#item.tooltip = run.request.question;
    this.#item.accessibilityInformation = { label: vscode.l10n.t('Conductor: {0}. Shows the panel.', label) };
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }
}

function labelOf(progress: NonNullable<ReturnType<typeof runProgress>>): string {
  if (progress.waiting) return vscode.l10n.t('waiting for you');
  switch (progress.phase) {
    case 'context': return vscode.l10n.t('reading');
    case 'plan': return vscode.l10n.t('planning');
    case 'steps': return vscode.l10n.t('{0} of {1} steps', progress.done, progress.steps);
    case 'tests': return vscode.l10n.t('testing');
  }
}
