import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PoolSummary } from '../backend/protocol/panel-messages.ts';
import { answerOf } from '../backend/protocol/run-facts.ts';
import type { RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { Button, TextArea } from './controls.tsx';
import { useHost } from './host.ts';
import { AddPicture, Attached, useAttachedPictures } from './pictures.tsx';

/** The box to go on, under the answer. What is asked there is a new run, which continues from this one. */
export function FollowUp({ run, ready, pool }: { readonly run: RunSnapshot; readonly ready: boolean; readonly pool: PoolSummary | undefined }): JSX.Element {
  const host = useHost();
  const { runId } = run;
  const [question, setQuestion] = useState(host.view.followUp.runId === runId ? host.view.followUp.question : '');
  const change = (next: string): void => {
    host.remember({ followUp: { runId, question: next } });
    setQuestion(next);
  };
  const attached = useAttachedPictures(runId);
  const { pictures } = attached;
  const isEmpty = question.trim() === '';
  const ask = (): void => {
    if (ready && !isEmpty) host.post({ type: 'solve', question, continues: runId, ...(pictures.length > 0 && { pictures: [...pictures] }) });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) ask();
  };
  const changesFiles = (answerOf(run)?.round.answer?.edits.length ?? 0) > 0;
  return (
    <section class={attached.isOver ? 'ask follow-up dropping' : 'ask follow-up'} aria-label={l10n.t('Continue')} {...attached.target}>
      <TextArea
        label={l10n.t('Continue from here')} value={question} rows={2} onInput={change} onKeyDown={onKeyDown}
        placeholder={l10n.t('And for an empty list? Now without the loop. Why?')}
      />
      <Attached attached={attached} pool={pool} />
      <div class="actions">
        <Button disabled={!ready || isEmpty} onClick={ask}>{l10n.t('Continue')}</Button>
        <AddPicture attached={attached} />
        <span class="quiet">
          {changesFiles ? l10n.t('Builds on this change, applied or not.') : l10n.t('The models are told of this question and its answer.')}
        </span>
        <span class="quiet keys"><kbd>{l10n.t('Ctrl')}</kbd>/<kbd>⌘</kbd> <kbd>{l10n.t('Enter')}</kbd></span>
      </div>
    </section>
  );
}
