import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isLastAnswer, undecidedRound } from '../backend/protocol/run-facts.ts';
import type { FailedBefore } from '../backend/protocol/run-request.ts';
import type { RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { Button } from './controls.tsx';
import { FailingTestItem } from './failing-test-item.tsx';
import { useHost } from './host.ts';
import { Notice } from './notice.tsx';
import { useDecision } from './use-decision.ts';

/** Enough to tell at a glance whether the tests have to do with the question. The verdict lists them all. */
const MAX_NAMES = 5;

/** The tests for which alone the answer fails, and which failed before: must they pass? */
export function FailedBeforeQuestion({ run }: { readonly run: RunSnapshot }): JSX.Element | null {
  const { send, isSent, problem } = useDecision();
  const round = undecidedRound(run);
  if (!round?.failedBefore) return null;
  const { tests } = round.failedBefore;
  const count = tests.length;
  const decide = (failedBefore: FailedBefore): void =>
    send((to) => to.ask<'decideFailedBefore'>({ type: 'decideFailedBefore', runId: run.runId, round: round.index, failedBefore }));
  return (
    <Notice
      icon="watch" tone="caution" title={titleOf(count)}
      actions={(
        <>
          <Button disabled={isSent} onClick={() => decide('must-pass')}>{count === 1 ? l10n.t('It must pass') : l10n.t('They must pass')}</Button>
          <Button disabled={isSent} onClick={() => decide('leave-out')}>{count === 1 ? l10n.t('Leave it out') : l10n.t('Leave them out')}</Button>
        </>
      )}
    >
      <ul class="test-names">
        {tests.slice(0, MAX_NAMES).map((id) => <FailingTestItem key={id} id={id} message={round.verdict?.tests.find((test) => test.id === id)?.message} />)}
        {count > MAX_NAMES && <li>{l10n.t('and {0} more', count - MAX_NAMES)}</li>}
      </ul>
      {mustPassWords(count, isLastAnswer(run, round.index))}{' '}
      {l10n.t('Tests that are left out cost nothing: the same answer is judged without them, and later questions leave them out, too, while they fail.')}
      <p class="note tone-bad" role="alert" dir="auto">{problem}</p>
    </Notice>
  );
}

function titleOf(count: number): string {
  return count === 1
    ? l10n.t('The answer breaks no test. 1 test that failed before still fails.')
    : l10n.t('The answer breaks no test. {0} tests that failed before still fail.', count);
}

/** What follows if the tests must pass. */
function mustPassWords(count: number, isLast: boolean): string {
  if (isLast) return count === 1 ? l10n.t('If it must pass, the run ends here, and its answer is not verified.') : l10n.t('If they must pass, the run ends here, and its answer is not verified.');
  return count === 1 ? l10n.t('If it must pass, another try may be paid for.') : l10n.t('If they must pass, another try may be paid for.');
}

/** The tests that a person left out earlier, and how that is taken back. */
export function LeftOutBefore({ run: { runId, leftOut } }: { readonly run: RunSnapshot }): JSX.Element | null {
  const host = useHost();
  const [said, setSaid] = useState('');
  if (!leftOut) return null;
  const takeBack = (): void => {
    host.ask<'takeBackLeftOut'>({ type: 'takeBackLeftOut', runId })
      .then(() => setSaid(leftOut.length === 1 ? l10n.t('It counts in your next questions.') : l10n.t('They count in your next questions.')), (error: unknown) => setSaid(error instanceof Error ? error.message : String(error)));
  };
  return (
    <p class="quiet" role="status">
      {leftOut.length === 1 ? l10n.t('1 test is left out while it fails, as you said before.') : l10n.t('{0} tests are left out while they fail, as you said before.', leftOut.length)}{' '}
      {said || <button type="button" class="link" onClick={takeBack}>{l10n.t('Take back')}</button>}
    </p>
  );
}
