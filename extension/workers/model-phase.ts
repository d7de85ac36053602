import * as vscode from 'vscode';
import type { LocalModelStatus } from '../../backend/protocol/local-models.ts';

/** A short text for the phase of a loading model. */
export function phaseText({ phase, fraction }: Pick<LocalModelStatus, 'phase' | 'fraction'>): string {
  const words = phaseWords(phase);
  return fraction === undefined ? words : vscode.l10n.t('{0}, {1} %', words, Math.floor(fraction * 100));
}

function phaseWords(phase: LocalModelStatus['phase']): string {
  switch (phase) {
    case 'fetching-libraries': return vscode.l10n.t('downloading the CUDA libraries');
    case 'trying': return vscode.l10n.t('trying the GPU, once');
    case 'reading': return vscode.l10n.t('checking its weights');
    case 'quantizing': return vscode.l10n.t('making its weights smaller');
    case 'loading': return vscode.l10n.t('reading its weights into memory');
    default: return vscode.l10n.t('looking for a GPU');
  }
}
