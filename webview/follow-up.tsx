import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf, type RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { Button, TextArea } from './controls.tsx';
import { useHost } from './host.ts';

/** The box to go on, under the answer. What is asked there is a new run, which continues from this one. */
export function FollowUp({ run, ready }: { readonly run: RunSnapshot; readonly ready: boolean }): JSX.Element {
  const host = useHost();
  const { runId } = run;
  const [question, setQuestion] = useState(host.view.followUp.runId === runId ? host.view.followUp.question : '');
  const change = (next: string): void => {
    host.remember({ followUp: { runId, question: next } });
    setQuestion(next);
  };
  const isEmpty = question.trim() === '';
  const ask = (): void => {
    if (ready && !isEmpty) host.post({ type: 'solve', question, continues: runId });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) ask();
  };
  const changesFiles = (answerOf(run)?.round.answer?.edits.length ?? 0) > 0;
  return (
    <section class="ask follow-up" aria-label={l10n.t('Continue')}>
      <TextArea
        label={l10n.t('Continue from here')} value={question} rows={2} onInput={change} onKeyDown={onKeyDown}
        placeholder={l10n.t('And for an empty list? Now without the loop. Why?')}
      />
      <div class="actions">
        <Button disabled={!ready || isEmpty} onClick={ask}>{l10n.t('Continue')}</Button>
        <span class="quiet">
          {changesFiles ? l10n.t('Builds on this change, applied or not.') : l10n.t('The models are told of this question and its answer.')}
        </span>
        <span class="quiet keys"><kbd>{l10n.t('Ctrl')}</kbd>/<kbd>⌘</kbd> <kbd>{l10n.t('Enter')}</kbd></span>
      </div>
    </section>
  );
}
