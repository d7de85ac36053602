import * as vscode from 'vscode';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { BudgetLimit } from '../../backend/protocol/worker-config.ts';
import { askRaisedLimit } from '../common/ask-raised-limit.ts';

/**
 * How far the limit that a run stopped at is raised for it.
 * @returns the limits to resume with, none for a run that stopped at none of its own, or undefined where nobody says
 */
export async function askRunBudget({ stoppedBy, needed, budget }: Pick<RunSnapshot, 'stoppedBy' | 'needed' | 'budget'>): Promise<Partial<Record<BudgetLimit, number>> | undefined> {
  if (stoppedBy === undefined || stoppedBy === 'usd' || stoppedBy === 'tokens') return {};
  const amount = await askRaisedLimit(
    { by: stoppedBy, limit: budget[stoppedBy], needed }, { title: vscode.l10n.t('Conductor: Resume'), questionOf: (limit) => questionOf(stoppedBy, limit) },
  );
  return amount === undefined ? undefined : { [stoppedBy]: amount };
}

function questionOf(limit: BudgetLimit, of: string): string {
  switch (limit) {
    case 'runUsd': return vscode.l10n.t('Maximum total cost of this run, in dollars. The limit was {0}.', of);
    case 'runTokens': return vscode.l10n.t('Maximum total tokens of this run. The limit was {0}.', of);
    case 'dayUsd': return vscode.l10n.t('Maximum cost of the day for this run, in dollars. The limit was {0}.', of);
    case 'dayTokens': return vscode.l10n.t('Maximum tokens of the day for this run. The limit was {0}.', of);
  }
}
