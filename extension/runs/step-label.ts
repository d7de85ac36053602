import * as vscode from 'vscode';
import { hasAttempts } from '../../backend/protocol/run-facts.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';

/** The place of a step in lists of steps; both numbers count from 0. */
export function stepLabel(run: RunSnapshot, { round, step }: { readonly round: number; readonly step: number }): string {
  return hasAttempts(run) ? vscode.l10n.t('Attempt {0}, step {1}', round + 1, step + 1) : vscode.l10n.t('Round {0}, step {1}', round + 1, step + 1);
}
