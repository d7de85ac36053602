import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { Exchange } from '../backend/protocol/earlier.ts';
import type { RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { Icon } from './controls.tsx';
import { Disclosure } from './disclosure.tsx';
import { useHost } from './host.ts';
import { InlineCode, Markdown } from './markdown/markdown.tsx';
import { visibleText } from './markdown/visible-text.ts';
import { Notice } from './notice.tsx';
import { endedStage } from './run-stage.ts';

/** The conversation that the question continues, folded, and what became of the change that it builds on. */
export function EarlierView({ run: { runId, earlier } }: { readonly run: RunSnapshot }): JSX.Element | null {
  if (!earlier) return null;
  return (
    <section class="earlier" aria-label={l10n.t('Earlier in this conversation')}>
      {earlier.exchanges.map((exchange) => <ExchangeView key={exchange.runId} exchange={exchange} of={runId} />)}
    </section>
  );
}

function ExchangeView({ exchange, of }: { readonly exchange: Exchange; readonly of: string }): JSX.Element {
  const host = useHost();
  const { runId, question, result, answer, isTold } = exchange;
  const stage = endedStage(exchange);
  return (
    <Disclosure id={`${of}/earlier/${runId}`} title={<InlineCode text={question} />} aside={<><Icon name={stage.icon} tone={stage.tone} /> {stage.text}</>}>
      <p class="quiet" dir="auto">{visibleText(result)}</p>
      {answer !== '' && <Markdown text={answer} />}
      {!isTold && <p class="quiet">{l10n.t('The models were not told of it: newer questions and answers took the room.')}</p>}
      <button type="button" class="link" onClick={() => host.post({ type: 'open', runId })}>{l10n.t('Open this run')}</button>
    </Disclosure>
  );
}

/** Under the question: what the answer is made on top of. */
export function BuildsOn({ run: { earlier } }: { readonly run: RunSnapshot }): JSX.Element | null {
  const { change } = earlier ?? {};
  if (change?.state === 'pending') return <p class="quiet">{l10n.t('The change before is not applied, so this answer has both. They are tested and applied as one.')}</p>;
  if (change?.state !== 'lost') return null;
  return <Notice icon="warning" tone="caution">{change.reason} {l10n.t('The workers were shown it as text.')}</Notice>;
}
