import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { formatMoney, formatUsd } from '../backend/protocol/figures.ts';
import { answerOf, hasAttempts, spentIn } from '../backend/protocol/run-facts.ts';
import type { RoundView, RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { brokenCount, passCount } from '../backend/protocol/test-changes.ts';
import type { Verdict } from '../backend/protocol/verdict.ts';
import { isVerified, passesOnly } from '../backend/protocol/verdict-facts.ts';
import { Icon } from './controls.tsx';
import { verdictStage, type Stage } from './run-stage.ts';
import { VerdictReason } from './verdict-reason.tsx';

/**
 * The answer's round and why it was chosen; undefined if there is only one round.
 */
export function answerRoundWords(run: RunSnapshot): string | undefined {
  const answer = answerOf(run);
  if (answer?.round.localTry) return run.outcome === 'verified' ? l10n.t('of the local try: nobody was paid') : l10n.t('of the local try');
  if (!answer || run.rounds.length === 1) return undefined;
  const { index, verdict } = answer.round;
  if (hasAttempts(run)) return attemptWords(run, answer.round);
  const judged = run.rounds.filter((round) => round.verdict).length;
  if (run.answerRound === undefined || judged < 2 || (verdict && isVerified(verdict))) return l10n.t('of round {0}', index + 1);
  return l10n.t('of round {0}, the best of {1} by the tests', index + 1, judged);
}

/** Which attempt it is of, and what it and a verified answer cost. */
function attemptWords({ rounds, verifiedCost }: RunSnapshot, round: RoundView): string {
  const tried = rounds.filter(({ verdict }) => verdict).length;
  const of = round.verdict && isVerified(round.verdict)
    ? l10n.t('of attempt {0}, which cost {1}', round.index + 1, formatMoney(spentIn(round)))
    : l10n.t('of attempt {0}, the best of {1} by the tests', round.index + 1, tried);
  if (!verifiedCost || verifiedCost.answers < 2) return of;
  return l10n.t('{0}; a verified answer costs {1} on average here', of, formatUsd(verifiedCost.usd));
}

/** The test result of the offered answer and why it is not verified, or that there is none. */
export function AnswerStanding({ run }: { readonly run: RunSnapshot }): JSX.Element | null {
  const { round } = answerOf(run) ?? {};
  if (!round || (!round.verdict && (round.answer?.edits.length ?? 0) === 0 && run.state === 'completed')) return null;
  const { stage, words } = standingOf(run, round);
  return (
    <>
      <p class="standing" dir="auto">
        <Icon name={stage.icon} tone={stage.tone} /> <strong class={`tone-${stage.tone}`}>{stage.text}</strong>
        {words.map((one) => <span key={one}> · {one}</span>)}
      </p>
      {round.verdict && <VerdictReason verdict={round.verdict} />}
    </>
  );
}

function standingOf({ state }: RunSnapshot, { verdict }: RoundView): { readonly stage: Stage; readonly words: readonly string[] } {
  if (verdict) return { stage: verdictStage(verdict), words: figuresOf(verdict) };
  const why = state === 'completed' ? l10n.t('no test has checked it') : l10n.t('the run ended before the tests had checked it');
  return { stage: { text: l10n.t('Unchecked'), icon: 'info', tone: 'caution' }, words: [why] };
}

function figuresOf({ tests }: Verdict): string[] {
  const { passed, passedBefore, total } = passCount(tests);
  if (total === 0) return [];
  const broken = brokenCount(tests);
  return [
    l10n.t('{0} of {1} tests pass with it, {2} without it', passed, total, passedBefore),
    ...(broken === 0 ? [] : broken === 1 ? [l10n.t('1 test breaks')] : [l10n.t('{0} tests break', broken)]),
  ];
}

/** The label of the review button. Warns if the tests reject the answer or have not checked it. */
export function reviewWords(verdict: Verdict | undefined): string {
  if (verdict && (isVerified(verdict) || passesOnly(verdict))) return l10n.t('Review and apply');
  const broken = brokenCount(verdict?.tests ?? []);
  if (broken === 1) return l10n.t('Apply although 1 test breaks…');
  if (broken > 1) return l10n.t('Apply although {0} tests break…', broken);
  return verdict?.outcome === 'failed' || verdict?.outcome === 'refused' ? l10n.t('Review anyway…') : l10n.t('Review, though unchecked…');
}
