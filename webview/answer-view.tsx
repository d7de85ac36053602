import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { AppliedAnswer, ApplyOutcome } from '../backend/protocol/panel-messages.ts';
import { answerOf } from '../backend/protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { isVerified } from '../backend/protocol/verdict-facts.ts';
import { AnswerStanding, answerRoundWords, reviewWords } from './answer-standing.tsx';
import { Button, ToolButton } from './controls.tsx';
import { DiffView } from './diff-view.tsx';
import { Disclosure } from './disclosure.tsx';
import { useHost } from './host.ts';
import { Markdown } from './markdown/markdown.tsx';
import { codeBlocksOf } from './markdown/render-markdown.ts';
import { visibleText } from './markdown/visible-text.ts';
import { Notice } from './notice.tsx';

interface AnswerProps {
  readonly run: RunSnapshot;
  readonly applied: ApplyOutcome | undefined;
  /** The applied answer that can be undone; it may belong to another run. */
  readonly undoable: AppliedAnswer | undefined;
  /** The run's folder is not open in this window. */
  readonly elsewhere: boolean;
  readonly trusted: boolean;
  /** What the button for asking again does; undefined if there is none. */
  readonly again: 'ask' | 'demonstrate' | undefined;
}

/** The answer of a finished run: its changes, its actions and its text. */
export const AnswerView = memo(function AnswerView({ run, applied, undoable, elsewhere, trusted, again }: AnswerProps): JSX.Element | null {
  const host = useHost();
  const answer = answerOf(run);
  const text = answer?.text;
  const code = useMemo(() => (text === undefined ? [] : codeBlocksOf(text)), [text]);
  if (!isOver(run.state) || !answer || text === undefined) return null;

  const { edits = [], refused = [], leftOut = [] } = answer.round.answer ?? {};
  const isApplied = undoable?.runId === run.runId;
  const onlyCode = code.length === 1 && !elsewhere ? code[0] : undefined;
  return (
    <section class="answer" aria-labelledby="answer-title">
      <div class="row section-title">
        <h2 id="answer-title">{l10n.t('Answer')}</h2>
        <span class="quiet">{answerRoundWords(run)}</span>
        {again && <Again run={run} what={again} />}
      </div>
      <AnswerStanding run={run} />
      {isApplied && undoable && <Applied undoable={undoable} outcome={applied} />}
      <div class="actions">
        {edits.length > 0 && !elsewhere && <Review run={run} isApplied={isApplied} trusted={trusted} />}
        {onlyCode !== undefined && (
          <Button onClick={() => host.post({ type: 'insert', text: onlyCode })} label={l10n.t('Insert the code at the cursor')}>
            {l10n.t('Insert')}
          </Button>
        )}
        <Button onClick={() => host.post({ type: 'copy', text })} label={l10n.t('Copy the whole answer')}>{l10n.t('Copy')}</Button>
      </div>
      {edits.length > 0 && elsewhere && <Elsewhere run={run} />}
      {edits.length > 0 && !elsewhere && !trusted && (
        <p class="note quiet">{l10n.t('Nothing is applied in Restricted Mode: trust this workspace first.')}</p>
      )}
      {!isApplied && applied?.runId === run.runId && <Outcome outcome={applied} />}
      {edits.map((edit) => <DiffView key={edit.path} edit={edit} />)}
      {[...refused, ...leftOut].map(({ path, reason }) => (
        <Notice key={path} icon="circle-slash" tone="caution" title={l10n.t('Not part of the change: {0}', visibleText(path))}>
          {reason}
        </Notice>
      ))}
      {edits.length === 0 && <Markdown text={text} />}
      {edits.length > 0 && (
        <Disclosure id={`${run.runId}/answer-text`} title={l10n.t('The answer in words')}>
          <Markdown text={text} />
        </Disclosure>
      )}
    </section>
  );
});

function Again({ run, what }: { readonly run: RunSnapshot; readonly what: 'ask' | 'demonstrate' }): JSX.Element {
  const host = useHost();
  if (what === 'demonstrate') {
    const words = l10n.t('Show it again');
    return <ToolButton icon="refresh" label={words} text={words} onClick={() => host.post({ type: 'demonstrate' })} />;
  }
  const askAgain = (): void => {
    const { question, pictures = [] } = run.request;
    host.attach('', pictures);
    host.remember({ draft: question, takenDraft: question });
    host.post({ type: 'newQuestion', question });
  };
  return (
    <ToolButton
      icon="refresh" text={l10n.t('Ask again…')} label={l10n.t('Ask again…, with the question in the text box')} onClick={askAgain}
    />
  );
}

/** Only a verified answer that is not applied gets a primary button. */
function Review({ run, isApplied, trusted }: { readonly run: RunSnapshot; readonly isApplied: boolean; readonly trusted: boolean }): JSX.Element {
  const host = useHost();
  const verdict = answerOf(run)?.round.verdict;
  const verified = verdict !== undefined && isVerified(verdict);
  return (
    <Button
      appearance={verified && !isApplied ? 'primary' : 'secondary'} disabled={!trusted}
      onClick={() => host.post({ type: 'apply', runId: run.runId })}
    >
      {isApplied ? l10n.t('Review again…') : reviewWords(verdict)}
    </Button>
  );
}

/** Shown while the answer can be undone. */
function Applied({ undoable: { runId, files }, outcome }: {
  readonly undoable: AppliedAnswer;
  readonly outcome: ApplyOutcome | undefined;
}): JSX.Element {
  const host = useHost();
  const [first] = files;
  const partly = outcome?.runId === runId && outcome.state === 'partly' ? outcome.message : undefined;
  return (
    <Notice
      icon={partly === undefined ? 'check' : 'warning'} tone={partly === undefined ? 'good' : 'caution'}
      actions={
        <>
          <Button onClick={() => host.post({ type: 'undo', runId })} label={l10n.t('Undo the answer')}>{l10n.t('Undo')}</Button>
          {first !== undefined && (
            <Button onClick={() => host.post({ type: 'openFile', path: first })} label={l10n.t('Open file {0}', first)}>{l10n.t('Open file')}</Button>
          )}
        </>
      }
    >
      {partly ?? (files.length > 0 ? l10n.t('Applied to {0}.', files.map(visibleText).join(', ')) : l10n.t('Applied.'))}
    </Notice>
  );
}

function Outcome({ outcome: { state, message } }: { readonly outcome: ApplyOutcome }): JSX.Element {
  switch (state) {
    case 'applied': return <Notice icon="check" tone="good">{message}</Notice>;
    case 'partly': return <Notice icon="warning" tone="caution">{message}</Notice>;
    case 'rejected': return <Notice icon="circle-slash" tone="quiet">{message}</Notice>;
  }
}

/** An answer changes only files of a folder that is open. */
function Elsewhere({ run }: { readonly run: RunSnapshot }): JSX.Element {
  const host = useHost();
  const folder = run.request.workspace ?? '';
  return (
    <Notice
      icon="info" tone="quiet"
      actions={<Button onClick={() => host.post({ type: 'openFolder', runId: run.runId })}>{l10n.t('Open that folder')}</Button>}
    >
      {l10n.t('The answer belongs to the folder {0}, which is not open in this window. It can be applied where it is.', visibleText(folder))}
    </Notice>
  );
}
