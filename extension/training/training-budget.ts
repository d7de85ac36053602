import * as vscode from 'vscode';
import type { TrainingLimits, TrainingSummary } from '../../backend/protocol/training.ts';
import type { StopLimit } from '../../backend/protocol/worker-config.ts';
import { amountOf, askRaisedLimit, type ReachedLimit } from '../common/ask-raised-limit.ts';

/** Asks for the training's maximum cost in dollars; undefined if the user cancels. */
export async function askBudget({ title, usd }: { readonly title: string; readonly usd: number }): Promise<number | undefined> {
  const text = await vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t('Maximum cost of the training, in dollars'),
    value: String(usd),
    ignoreFocusOut: true,
    validateInput: (value) => (amountOf(value) === undefined ? vscode.l10n.t('Enter an amount of dollars above 0, such as 2.50.') : undefined),
  });
  return text === undefined ? undefined : amountOf(text);
}

/** Asks for a higher limit: the one that the training stopped at, otherwise its dollars. @returns undefined if the user cancels */
export async function askTrainingLimits({ stopped, maxUsd }: Pick<TrainingSummary, 'stopped' | 'maxUsd'>): Promise<TrainingLimits | undefined> {
  const reached: ReachedLimit = stopped ?? { by: 'usd', limit: maxUsd };
  const title = vscode.l10n.t('Conductor: Raise the Budget of a Training');
  const amount = await askRaisedLimit(reached, { title, questionOf: (of) => questionOf(reached.by, of) });
  return amount === undefined ? undefined : { [reached.by]: amount };
}

function questionOf(limit: StopLimit, of: string): string {
  switch (limit) {
    case 'usd': return vscode.l10n.t('Maximum total cost of the training, in dollars. The limit was {0}.', of);
    case 'tokens': return vscode.l10n.t('Maximum total tokens of the training. The limit was {0}.', of);
    case 'runUsd': return vscode.l10n.t('Maximum cost of one plan of the training, in dollars. The limit was {0}.', of);
    case 'runTokens': return vscode.l10n.t('Maximum tokens of one plan of the training. The limit was {0}.', of);
    case 'dayUsd':
    case 'dayTokens': throw new RangeError(`A training is not held by ${limit}.`);
  }
}
