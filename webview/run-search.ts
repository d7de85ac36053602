import * as l10n from '@vscode/l10n';
import type { RunSummary } from '../backend/protocol/methods.ts';

/*
 * The search over past runs.
 */

/** `under-way`: running or waiting; `ended-early`: stopped, failed or cancelled. */
export const RUN_KINDS = ['all', 'verified', 'passes', 'not-verified', 'answered', 'unchecked', 'under-way', 'ended-early'] as const;
export type RunKindWanted = (typeof RUN_KINDS)[number];

export interface RunSearch {
  /** Part of the question, ignoring case. */
  readonly text: string;
  readonly kind: RunKindWanted;
}

export const NO_SEARCH: RunSearch = { text: '', kind: 'all' };

export function kindName(kind: RunKindWanted): string {
  switch (kind) {
    case 'all': return l10n.t('All runs');
    case 'verified': return l10n.t('Verified');
    case 'passes': return l10n.t('Tests pass, not verified');
    case 'not-verified': return l10n.t('Not verified');
    case 'answered': return l10n.t('Answered');
    case 'unchecked': return l10n.t('Unchecked');
    case 'under-way': return l10n.t('Under way');
    case 'ended-early': return l10n.t('Ended early');
  }
}

export function isSearching({ text, kind }: RunSearch): boolean {
  return text.trim() !== '' || kind !== 'all';
}

/** The matching runs, newest first. If both lists contain a run, the listed one is used: it is kept up to date. */
export function matchingRuns({ text, kind }: RunSearch, listed: readonly RunSummary[], found: readonly RunSummary[]): readonly RunSummary[] {
  const known = new Set(listed.map(({ runId }) => runId));
  const wanted = text.trim().toLowerCase();
  return [...listed, ...found.filter(({ runId }) => !known.has(runId))]
    .filter((run) => run.question.toLowerCase().includes(wanted) && isOfKind(run, kind))
    .sort((a, b) => b.acceptedAt - a.acceptedAt);
}

function isOfKind({ state, outcome }: RunSummary, kind: RunKindWanted): boolean {
  switch (kind) {
    case 'all':
      return true;
    case 'under-way':
      return state === 'running' || state === 'waiting';
    case 'ended-early':
      return state === 'stopped' || state === 'failed' || state === 'cancelled';
    case 'verified':
    case 'passes':
    case 'not-verified':
    case 'answered':
    case 'unchecked':
      return state === 'completed' && (outcome ?? 'unchecked') === kind;
  }
}

/** Restores a stored search, as far as it is valid: an earlier version may have written it. */
export function readSearch(stored: unknown): RunSearch {
  if (typeof stored !== 'object' || stored === null) return NO_SEARCH;
  const { text, kind } = stored as Record<string, unknown>;
  return {
    text: typeof text === 'string' ? text : NO_SEARCH.text,
    kind: RUN_KINDS.find((one) => one === kind) ?? NO_SEARCH.kind,
  };
}
