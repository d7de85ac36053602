import * as vscode from 'vscode';
import { DEFAULT_WARN_AT_PERCENT } from '../../backend/protocol/budget-limits.ts';
import { formatMoney, formatTokens, formatUsd } from '../../backend/protocol/figures.ts';
import type { BudgetWarning, StoredEvent } from '../../backend/protocol/run-events.ts';
import type { TrainingSummary } from '../../backend/protocol/training.ts';
import { isNews, nearlySpent, subjectOf, subjectOfTraining, type ToldMemory } from './nearly-spent.ts';
import { plainMessage } from '../common/plain-message.ts';

export interface BudgetNoticesOptions {
  readonly memory: ToldMemory;
  readonly openLimits: () => Promise<unknown>;
  readonly raiseTraining: (trainingId: string) => Promise<unknown>;
  readonly report: (error: unknown) => void;
}

/** Warns once when a run, a day or a training has nearly used its budget. At the limit it stops by itself. */
export class BudgetNotices {
  readonly #options: BudgetNoticesOptions;

  constructor(options: BudgetNoticesOptions) {
    this.#options = options;
  }

  /** Handles an event of the open run. */
  onRunEvent(stored: StoredEvent): void {
    const { event } = stored;
    const subject = subjectOf(stored);
    if (subject === undefined || event.type !== 'budget.warned') return;
    this.#tell(subject, runMessage(event), { label: vscode.l10n.t('Change Limits'), act: this.#options.openLimits });
  }

  /** @param warnAtPercent from workers.json, if set */
  onTrainings(trainings: readonly TrainingSummary[], warnAtPercent = DEFAULT_WARN_AT_PERCENT): void {
    for (const training of nearlySpent(trainings, warnAtPercent)) {
      const { trainingId, conductor, spentUsd, unpricedTokens, maxUsd } = training;
      const message = vscode.l10n.t(
        'The training of "{0}" has spent {1} of its budget of {2}. At the limit it pauses.', conductor, formatMoney({ usd: spentUsd, unpricedTokens }), formatUsd(maxUsd),
      );
      this.#tell(subjectOfTraining(training), message, {
        label: vscode.l10n.t('Raise Budget…'), act: () => this.#options.raiseTraining(trainingId),
      });
    }
  }

  #tell(subject: string, message: string, { label, act }: { readonly label: string; readonly act: () => Promise<unknown> }): void {
    const { memory, report } = this.#options;
    if (!isNews(subject, memory)) return;
    vscode.window.showWarningMessage(plainMessage(message), label).then((chosen) => (chosen === label ? act() : undefined)).then(undefined, report);
  }
}

function runMessage({ limit, spent, of }: BudgetWarning): string {
  switch (limit) {
    case 'runUsd': return vscode.l10n.t('The run has spent {0} of its budget of {1}. At the limit it stops and can be resumed.', formatUsd(spent), formatUsd(of));
    case 'runTokens': return vscode.l10n.t('The run has used {0} of its {1} tokens. At the limit it stops and can be resumed.', formatTokens(spent), formatTokens(of));
    case 'dayUsd': return vscode.l10n.t('{0} of the daily budget of {1} are spent. At the limit runs stop and can be resumed.', formatUsd(spent), formatUsd(of));
    case 'dayTokens': return vscode.l10n.t('{0} of the {1} tokens of a day are used. At the limit runs stop and can be resumed.', formatTokens(spent), formatTokens(of));
  }
}
