import * as vscode from 'vscode';
import { formatMoney } from '../../backend/protocol/figures.ts';
import { SECTION } from './suggest-settings.ts';
import type { SuggestionActivity, SuggestionState } from './suggestion-state.ts';

/** Switches suggestions on and off. */
export const TOGGLE = 'conductor.toggleSuggestions';

/** A short status bar item with the state of suggestions; a click toggles them. Errors of suggestions are shown only here. */
export class SuggestionStatus {
  readonly #item: vscode.StatusBarItem;
  readonly #state: SuggestionState;
  /** The state changes at every key, its text only rarely. */
  #shown = '';

  constructor(state: SuggestionState) {
    this.#state = state;
    this.#item = vscode.window.createStatusBarItem('conductor.suggestions', vscode.StatusBarAlignment.Right);
    this.#item.name = vscode.l10n.t('Conductor Suggestions');
    state.changed.on(() => this.#update());
    this.#update();
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }

  #update(): void {
    const { activity } = this.#state;
    const label = labelOf(activity);
    const details = this.#details(activity);
    const shown = [activity.kind, label, ...details].join('\n');
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#item.text = textOf(activity);
    this.#item.tooltip = tooltipOf(label, details);
    this.#item.accessibilityInformation = { label: [label, ...details].join(' ') };
    this.#item.command = activity.kind === 'restricted' ? 'workbench.trust.manage' : TOGGLE;
  }

  #details(activity: SuggestionActivity): string[] {
    const { last } = this.#state;
    if (activity.kind === 'off' || activity.kind === 'restricted') return [];
    if (activity.kind === 'problem') return [activity.message];
    if (!last) return [];
    if (last.withheld !== undefined) return [last.withheld];
    const { worker, spentTodayUsd: usd, unpricedTokensToday: unpricedTokens } = last;
    const money = vscode.l10n.t('{0} today.', formatMoney({ usd, unpricedTokens }));
    if (!worker) return [money];
    const who = worker.simulated ? vscode.l10n.t('By {0}, a simulation.', worker.id) : vscode.l10n.t('By {0}.', worker.id);
    return [who, money];
  }
}

function textOf({ kind }: SuggestionActivity): string {
  switch (kind) {
    case 'off': return `$(sparkle) ${vscode.l10n.t('suggest: off')}`;
    case 'restricted': return '$(workspace-untrusted)';
    case 'ready': return '$(sparkle)';
    case 'asking': return '$(loading~spin)';
    case 'problem': return '$(sparkle)$(warning)';
  }
}

function labelOf({ kind }: SuggestionActivity): string {
  switch (kind) {
    case 'off': return vscode.l10n.t('Conductor suggestions are off.');
    case 'restricted': return vscode.l10n.t('Conductor suggestions need a trusted workspace.');
    case 'ready': return vscode.l10n.t('Conductor suggestions are on.');
    case 'asking': return vscode.l10n.t('Conductor suggestions are on: asking.');
    case 'problem': return vscode.l10n.t('Conductor suggestions do not work at the moment.');
  }
}

function tooltipOf(label: string, details: readonly string[]): vscode.MarkdownString {
  const tooltip = new vscode.MarkdownString(undefined, true);
  tooltip.isTrusted = { enabledCommands: ['workbench.action.openSettings', 'conductor.showLogs'] };
  for (const line of [label, ...details]) tooltip.appendText(line).appendMarkdown('\n\n');
  const settings = `command:workbench.action.openSettings?${encodeURIComponent(JSON.stringify([SECTION]))}`;
  tooltip.appendMarkdown(`[${vscode.l10n.t('Settings')}](${settings}) · [${vscode.l10n.t('Logs')}](command:conductor.showLogs)`);
  return tooltip;
}
