import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { ViewOf } from '../backend/protocol/panel-messages.ts';
import { Button } from './controls.tsx';
import { useHost } from './host.ts';
import { Notice } from './notice.tsx';
import { verdictStage } from './run-stage.ts';
import { VerdictView } from './verdict-view.tsx';
import type { ViewDefinition } from './view-definition.ts';

type View = ViewOf<'verification'>;

export const VERIFICATION_VIEW: ViewDefinition<'verification'> = {
  subject: ({ verification: { id } }) => `verification-${id}`,
  header: (_view, pool) => ({ conductor: pool?.conductor }),
  news: (before, after) => (before.verification.verdict || !after.verification.verdict ? '' : `${verdictStage(after.verification.verdict).text}.`),
  Content: VerificationView,
};

/** The verdict on the person's own change. If it could not be learned, what to do next. */
function VerificationView({ view: { verification } }: { readonly view: View }): JSX.Element {
  const { folder, verdict, problem, commit } = verification;
  const isOver = verdict !== undefined || problem !== undefined;
  return (
    <section class="verification" aria-label={l10n.t('Your changes')}>
      <h2 class="question">{l10n.t('Your changes in {0}', folder)}</h2>
      {!isOver && <Notice icon="loading" tone="busy">{l10n.t('The tests run on the last commit, and then with your changes. The terminal shows how far they are and can stop them.')}</Notice>}
      {problem !== undefined && <Notice icon="warning" tone="caution">{problem}</Notice>}
      {verdict && <VerdictView verdict={verdict} id="verification" isOffered={false} isOwn />}
      {commit && <p class="note quiet">{l10n.t('Compared with the commit {0}.', commit.slice(0, 12))}</p>}
      {isOver && <NextSteps view={{ kind: 'verification', verification }} />}
    </section>
  );
}

function NextSteps({ view: { verification: { verdict, problem } } }: { readonly view: View }): JSX.Element {
  const host = useHost();
  const isUnknown = problem === undefined && verdict?.outcome === 'infrastructure';
  const again = <Button appearance={isUnknown ? 'secondary' : 'primary'} icon="refresh" onClick={() => host.post({ type: 'verifyChanges' })}>{l10n.t('Verify again')}</Button>;
  if (!isUnknown) return <div class="actions">{again}</div>;
  // What a missing sandbox needs stands in the verdict, as a command to copy.
  return (
    <div class="actions">
      {verdict.remedy === undefined && <Button appearance="primary" onClick={() => host.post({ type: 'chooseTests' })}>{l10n.t('Choose test command…')}</Button>}
      {again}
      <Button onClick={() => host.post({ type: 'openTestSettings' })}>{l10n.t('Open settings')}</Button>
      <Button onClick={() => host.post({ type: 'showHealth' })}>{l10n.t('Show health')}</Button>
    </div>
  );
}
