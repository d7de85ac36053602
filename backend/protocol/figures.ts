import * as l10n from '@vscode/l10n';
import type { Spent } from './run-snapshot.ts';
import { totalTokens } from './token-counts.ts';

/*
 * Formats numbers for people. A live figure has no decimals, so that it does not flicker; a final one has them. The extension and the page
 * use the language of `l10n`; the command line and the backend use English.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Dollars: cents from one dollar up, four decimals at most below it. */
export function formatUsd(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.000_05) return '<$0.0001';
  if (usd >= 0.999_95) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(4).replace(/0{1,2}$/, '')}`;
}

/** A number of tokens, such as `612`, `1.4k`, `38k` or `1.2M`. */
export function formatTokens(tokens: number): string {
  // A mean has digits behind its point.
  if (tokens < 999.5) return String(Math.round(tokens));
  if (tokens < 9_950) return `${(tokens / 1_000).toFixed(1)}k`;
  if (tokens < 999_500) return `${Math.round(tokens / 1_000)}k`;
  return `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** How long something took. */
export function formatDuration(ms: number): string {
  if (ms < MINUTE - 50) return `${(ms / SECOND).toFixed(1)} s`;
  return formatElapsed(ms);
}

/** How long something has been going on. */
export function formatElapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / SECOND));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${pad(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} min`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

/** When something happened, as seen at `now`; both in milliseconds since 1970. `language` is a BCP 47 tag. */
export function formatWhen(at: number, now: number, language = 'en-GB'): string {
  const ago = now - at;
  if (ago < MINUTE) return l10n.t('just now');
  if (ago < HOUR) return l10n.t('{0} min ago', Math.floor(ago / MINUTE));
  if (ago < DAY) return l10n.t('{0} h ago', Math.floor(ago / HOUR));
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', ...(!sameYear && { year: 'numeric' }) }).format(at);
}

export interface Money {
  readonly usd: number;
  readonly unpricedTokens: number;
  readonly estimated?: boolean;
}

/**
 * The amount spent: dollars if prices are known, otherwise tokens. `~` marks an estimate. Unpriced is not free: `$0` means that nothing was
 * used, or only models that are known to cost nothing, such as a local model.
 */
export function formatMoney({ usd, unpricedTokens, estimated = false }: Money, ofUsd?: number): string {
  const about = estimated ? '~' : '';
  const unpriced = unpricedTokens > 0 ? l10n.t('{0} tokens unpriced', `${about}${formatTokens(unpricedTokens)}`) : undefined;
  if (usd === 0 && unpriced) return unpriced;
  const spent = `${usd > 0 ? about : ''}${formatUsd(usd)}`;
  const dollars = ofUsd === undefined ? spent : l10n.t('{0} of {1}', spent, formatBudget(ofUsd));
  return unpriced ? `${dollars} + ${unpriced}` : dollars;
}

function formatBudget(usd: number): string {
  return usd >= 0.01 ? `$${usd.toFixed(2)}` : formatUsd(usd);
}

/** Tokens and money of one step, such as `1.4k tok · $0.0098`. */
export function formatStepSpent(spent: Spent): string[] {
  const tokens = totalTokens(spent.usage);
  if (tokens === 0 && spent.usd === 0) return [];
  const about = spent.estimated ? '~' : '';
  const count = l10n.t('{0} tok', `${about}${formatTokens(tokens)}`);
  if (spent.unpricedTokens >= tokens) return [count, l10n.t('unpriced')];
  return [count, formatMoney(spent)];
}

/** Bytes in units of 1000, as downloads and disks are counted: `988 MB`, `15.2 GB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 999_500) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 999.5e6 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** A share with one decimal: `62.5 %`. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
