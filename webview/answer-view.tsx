import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ApplyOutcome } from '../backend/protocol/panel-messages.ts';
import { answerOf, isOver, type RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { Button, ToolButton } from './controls.tsx';
import { DiffView } from './diff-view.tsx';
import { Disclosure } from './disclosure.tsx';
import { useHost } from './host.ts';
import { Markdown } from './markdown/markdown.tsx';
import { codeBlocksOf } from './markdown/render-markdown.ts';
import { visibleText } from './markdown/visible-text.ts';
import { Notice } from './notice.tsx';

/** The answer: what it would change, what to do with it, and its words. Shown once the run is over. */
export const AnswerView = memo(function AnswerView({ run, applied }: {
  readonly run: RunSnapshot;
  readonly applied: ApplyOutcome | undefined;
}): JSX.Element | null {
  const host = useHost();
  const answer = answerOf(run);
  const text = answer?.text;
  const code = useMemo(() => (text === undefined ? [] : codeBlocksOf(text)), [text]);
  if (!isOver(run.state) || !answer || text === undefined) return null;

  const edits = answer.round.answer?.edits ?? [];
  const refused = answer.round.answer?.refused ?? [];
  const runAgain = (): void => {
    const { question } = run.request;
    host.remember({ draft: question, takenDraft: question });
    host.post({ type: 'newQuestion', question });
  };
  const onlyCode = code.length === 1 ? code[0] : undefined;
  return (
    <section class="answer" aria-labelledby="answer-title">
      <div class="row section-title">
        <h2 id="answer-title">{l10n.t('Answer')}</h2>
        {run.rounds.length > 1 && <span class="quiet">{l10n.t('of round {0}', answer.round.index + 1)}</span>}
        <ToolButton icon="refresh" label={l10n.t('Run again…')} text={l10n.t('Run again…')} onClick={runAgain} />
      </div>
      {edits.map((edit) => <DiffView key={edit.path} edit={edit} />)}
      {refused.map(({ path, reason }) => (
        <Notice key={path} icon="circle-slash" tone="caution" title={l10n.t('Not part of the change: {0}', visibleText(path))}>
          {reason}
        </Notice>
      ))}
      {edits.length === 0 && <Markdown text={text} />}
      <div class="actions">
        {edits.length > 0 && (
          <Button appearance="primary" onClick={() => host.post({ type: 'apply', runId: run.runId })}>{l10n.t('Review and apply')}</Button>
        )}
        {onlyCode !== undefined && (
          <Button onClick={() => host.post({ type: 'insert', text: onlyCode })} label={l10n.t('Insert the code at the cursor')}>
            {l10n.t('Insert')}
          </Button>
        )}
        <Button onClick={() => host.post({ type: 'copy', text })} label={l10n.t('Copy the whole answer')}>{l10n.t('Copy')}</Button>
      </div>
      {applied?.runId === run.runId && (
        <Notice
          icon={applied.state === 'applied' ? 'check' : applied.state === 'partly' ? 'warning' : 'circle-slash'}
          tone={applied.state === 'applied' ? 'good' : applied.state === 'partly' ? 'caution' : 'quiet'}
        >
          {applied.message}
        </Notice>
      )}
      {edits.length > 0 && (
        <Disclosure id={`${run.runId}/answer-text`} title={l10n.t('The answer in words')}>
          <Markdown text={text} />
        </Disclosure>
      )}
    </section>
  );
});
