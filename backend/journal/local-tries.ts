import { meanOf } from '../common/mean-of.ts';
import type { LocalRecord } from '../protocol/local-first.ts';

/** A run of a project, as far as tries concern it. Times are milliseconds since 1970. */
export interface TriedRow {
  readonly usd: number;
  readonly unpriced: number;
  readonly is_verified: number;
  readonly is_judged: number;
  /** When its try began; null for a run without one of its own. */
  readonly began: number | null;
  /** When the last thing happened in its first round. */
  readonly ended: number | null;
  /** The round whose answer it offers. */
  readonly answer_round: number | null;
}

/** With fewer paid runs, their mean is an accident. */
const FEWEST_PAID = 3;

/** How tries turned out, from all runs of a project. */
export function localRecordOf(rows: readonly TriedRow[]): LocalRecord {
  const tries = rows.flatMap(({ began, ended, is_verified: isVerified, answer_round: answerRound }) =>
    (began !== null && ended !== null ? [{ ms: Math.max(0, ended - began), isVerified: isVerified === 1 && answerRound === 0 }] : []));
  const verified = tries.filter(({ isVerified }) => isVerified).length;
  const paid = rows.filter(({ usd, unpriced, is_judged: isJudged }) => isJudged === 1 && usd > 0 && unpriced === 0);
  return {
    tried: tries.length, verified,
    ...(tries.length > 0 && { durationMs: meanOf(tries.map(({ ms }) => ms)) }),
    ...(paid.length >= FEWEST_PAID && { saved: { usd: verified * meanOf(paid.map(({ usd }) => usd)), runs: paid.length } }),
  };
}
