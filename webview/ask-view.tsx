import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ContextPreview, PanelState, PoolSummary, QuestionDraft, ViewOf } from '../backend/protocol/panel-messages.ts';
import { localRecordWords } from '../backend/protocol/local-first-words.ts';
import type { PlannerChoice } from '../backend/protocol/planner-choice.ts';
import { estimateWords, plannerReason } from '../backend/protocol/planner-words.ts';
import { readingOf } from '../backend/protocol/test-runners.ts';
import { Button, Icon, TextArea } from './controls.tsx';
import { ContextView } from './context-view.tsx';
import { fillSentence } from './fill-sentence.ts';
import { useHost } from './host.ts';
import { list } from './language.ts';
import { visibleText } from './markdown/visible-text.ts';
import { ModelLines } from './model-lines.tsx';
import { Notice } from './notice.tsx';
import { ChangePlanner } from './plan/planned-by.tsx';
import { AddPicture, Attached, useAttachedPictures } from './pictures.tsx';
import { RunsList } from './runs-list.tsx';
import { simulatedSentence } from './simulated-workers.ts';
import { TrainingsList } from './training/trainings-list.tsx';
import type { ViewDefinition } from './view-definition.ts';

export const QUESTION_VIEW: ViewDefinition<'question'> = {
  subject: () => undefined,
  header: (_view, pool) => ({ conductor: pool?.conductor, simulated: simulatedSentence(pool?.workers ?? []) }),
  news: () => '',
  Content: AskView,
};

/** The page for new questions and past runs. */
function AskView({ view: { draft }, state }: { readonly view: ViewOf<'question'>; readonly state: PanelState }): JSX.Element {
  const { pool, runs, trainings, trusted } = state;
  const workers = pool?.workers.filter((worker) => worker.enabled) ?? [];
  const firstRun = pool !== undefined && workers.length === 0;
  return (
    <>
      {!trusted && <Restricted />}
      <Ask draft={draft} state={state} />
      {firstRun && <NoWorkers />}
      {pool && !firstRun && <PoolLine pool={pool} />}
      <ModelLines models={state.models} conductor={pool?.conductor} />
      {trusted && state.learning && <LearningOffered {...state.learning} />}
      <RunsList runs={runs} />
      <TrainingsList trainings={trainings} />
    </>
  );
}

function Ask({ draft, state: { trusted, backend, pool, localFirst } }: {
  readonly draft: QuestionDraft | undefined; readonly state: PanelState;
}): JSX.Element {
  const host = useHost();
  const [question, setQuestion] = useDraft(draft?.question);
  const [attempts, setAttempts] = useState(1);
  const [atOnce, setAtOnce] = useState(false);
  const attached = useAttachedPictures('');
  const { pictures } = attached;
  const hasWorkers = pool === undefined || pool.workers.some((worker) => worker.enabled);
  const ready = trusted && backend.state === 'connected' && pool?.conductor !== undefined && hasWorkers;
  const empty = question.trim() === '';
  const solve = (): void => {
    if (ready && !empty) host.post({ type: 'solve', question, ...(pictures.length > 0 && { pictures: [...pictures] }), ...(attempts > 1 && { attempts, ...(atOnce && { atOnce }) }) });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) solve();
  };
  const isCurrent = draft?.question.trim() === question.trim();
  return (
    <section class={attached.isOver ? 'ask dropping' : 'ask'} aria-label={l10n.t('Ask')} {...attached.target}>
      <TextArea
        label={l10n.t('Ask a coding question')} value={question} rows={hasWorkers ? 5 : 3} onInput={setQuestion} onKeyDown={onKeyDown}
        placeholder={l10n.t('Why does merge() lose the outer interval? Name files with #file.')}
      />
      <Attached attached={attached} pool={pool} />
      <div class="actions">
        <Button appearance="primary" disabled={!ready || empty} onClick={solve}>{l10n.t('Solve')}</Button>
        <Button disabled={empty || backend.state !== 'connected'} onClick={() => host.post({ type: 'previewContext', question })}>
          {l10n.t('Show context')}
        </Button>
        <AddPicture attached={attached} />
        <Attempts count={attempts} onChange={setAttempts} />
        {attempts > 1 && <AtOnce on={atOnce} onChange={setAtOnce} />}
        {localFirst && <LocalFirst {...localFirst} />}
        <span class="quiet keys"><kbd>{l10n.t('Ctrl')}</kbd>/<kbd>⌘</kbd> <kbd>{l10n.t('Enter')}</kbd></span>
      </div>
      {localFirst && (localFirst.on || (localFirst.record?.tried ?? 0) > 0) && <LocalRecordLine {...localFirst} />}
      {!hasWorkers && !empty && <p class="quiet">{l10n.t('Your question waits here until there is a worker.')}</p>}
      {isCurrent && draft?.problem && <Notice icon="warning" tone="caution">{draft.problem}</Notice>}
      {isCurrent && draft?.preview && <Preview preview={draft.preview} />}
    </section>
  );
}

/** How many plans may be tried. Plain HTML: the toolkit's list has no accessible name. */
function Attempts({ count, onChange }: { readonly count: number; readonly onChange: (count: number) => void }): JSX.Element {
  return (
    <label class="attempts quiet" title={l10n.t('Up to this many plans are tried, the cheapest first, until the tests verify an answer. All of them share the budget.')}>
      {l10n.t('Attempts')}{' '}
      <select class="choice" value={String(count)} onChange={(event) => onChange(Number(event.currentTarget.value))}>
        {[1, 2, 3, 4, 5].map((one) => <option key={one} value={String(one)}>{one}</option>)}
      </select>
    </label>
  );
}

/** Whether the attempts are tried at the same time. */
function AtOnce({ on, onChange }: { readonly on: boolean; readonly onChange: (on: boolean) => void }): JSX.Element {
  return (
    <label class="attempts quiet" title={l10n.t('All attempts are tried at the same time: quicker, and dearer. The first verified one ends the others; what they had begun is paid.')}>
      <input type="checkbox" checked={on} onChange={(event) => onChange(event.currentTarget.checked)} /> {l10n.t('At once')}
    </label>
  );
}

/** Whether a worker that costs nothing tries before anybody is paid. It is the setting itself, so that it holds for the next question, too. */
function LocalFirst({ on, worker = '', record }: NonNullable<PanelState['localFirst']>): JSX.Element {
  const host = useHost();
  const title = [
    l10n.t('{0}, which costs nothing, tries before anybody is paid. If the tests verify its answer, nobody is; if not, the plan follows.', worker),
    ...(record ? [localRecordWords(record).join(' · ')] : []),
  ].join('\n');
  return (
    <label class="attempts quiet" title={title}>
      <input type="checkbox" checked={on} onChange={(event) => host.post({ type: 'setLocalFirst', on: event.currentTarget.checked })} /> {l10n.t('Local first')}
    </label>
  );
}

/** Who tries first, and how such tries turned out in the project. */
function LocalRecordLine({ on, worker = '', record }: NonNullable<PanelState['localFirst']>): JSX.Element {
  const words = record ? localRecordWords(record) : [];
  return (
    <div class="pool">
      <p class="quiet">{[...(on ? [l10n.t('{0} tries first', worker)] : [l10n.t('Local first')]), ...words].join(' · ')}</p>
    </div>
  );
}

/** The typed question, kept over reloads. A question from outside the page replaces it once. */
function useDraft(fromOutside: string | undefined): [string, (question: string) => void] {
  const host = useHost();
  const [question, setQuestion] = useState(host.view.draft);
  useEffect(() => {
    if (!fromOutside || fromOutside === host.view.takenDraft) return;
    host.remember({ draft: fromOutside, takenDraft: fromOutside });
    setQuestion(fromOutside);
  }, [host, fromOutside]);
  const change = (next: string): void => {
    host.remember({ draft: next });
    setQuestion(next);
  };
  return [question, change];
}

function Preview({ preview }: { readonly preview: ContextPreview }): JSX.Element {
  const host = useHost();
  const { testCommand, testRunner, likelyTests = [] } = preview;
  return (
    <div class="preview">
      <p class="label">{l10n.t('Would be sent with the question')}</p>
      <ContextView context={preview} id="preview" />
      <p class="quiet">
        {testCommand === null
          ? <>
              {l10n.t('No test command was found or named: the answer stays unchecked.')}
              {likelyTests.map(({ command, from }) => <>{' '}{fillSentence(l10n.t('It may be {0}, of {1}.'), <code>{visibleText(command)}</code>, visibleText(from))}</>)}
            </>
          : <CheckedWith command={testCommand} runner={testRunner} />}{' '}
        <button type="button" class="link" onClick={() => host.post({ type: 'chooseTests' })}>
          {testCommand === null ? l10n.t('Choose one') : l10n.t('Choose another')}
        </button>
      </p>
    </div>
  );
}

function CheckedWith({ command, runner }: { readonly command: string; readonly runner: string | undefined }): JSX.Element {
  const code = <code>{visibleText(command)}</code>;
  return runner === undefined
    ? <>{fillSentence(l10n.t('The answer is checked with {0}.'), code)}</>
    : <>{fillSentence(l10n.t('The answer is checked with {0} ({1}).'), code, readingOf(runner))}</>;
}

function NoWorkers(): JSX.Element {
  const host = useHost();
  return (
    <section class="first-run" aria-label={l10n.t('First steps')}>
      <h2>{l10n.t('Add your first worker')}</h2>
      <p>{l10n.t('A worker is a model that answers parts of your questions. Use one from a provider or one on this machine.')}</p>
      <Button appearance="primary" icon="add" onClick={() => host.post({ type: 'addWorker' })}>{l10n.t('Add a worker')}</Button>
      <Button icon="cloud-download" onClick={() => host.post({ type: 'chooseModel' })}>
        {l10n.t('Download a model and use it here')}
      </Button>
      <Button icon="beaker" onClick={() => host.post({ type: 'demonstrate' })}>{l10n.t('See a demonstration first')}</Button>
      <p class="quiet">{l10n.t('A model on this machine needs no key, and no network once it is downloaded. It plans and answers.')}</p>
      <p class="quiet">
        {l10n.t('The demonstration fixes a bug in a sample project. Its workers are simulated and marked as such. It ends when you add your first worker.')}
      </p>
    </section>
  );
}

function Restricted(): JSX.Element {
  const host = useHost();
  return (
    <Notice
      icon="shield" tone="caution" title={l10n.t('Restricted Mode')}
      actions={<Button onClick={() => host.post({ type: 'manageTrust' })}>{l10n.t('Manage trust')}</Button>}
    >
      {l10n.t('Questions send files and run tests of this workspace. Trust it first; past runs can be read without.')}
    </Notice>
  );
}

/** What happened already is enough to learn from. */
function LearningOffered({ verified, other }: NonNullable<PanelState['learning']>): JSX.Element {
  const host = useHost();
  return (
    <Notice
      icon="mortar-board" tone="quiet"
      actions={
        <>
          <Button onClick={() => host.post({ type: 'learn' })} label={l10n.t('Learn from earlier plans')}>{l10n.t('Learn')}</Button>
          <Button onClick={() => host.post({ type: 'declineLearning' })}>{l10n.t('Not now')}</Button>
        </>
      }
    >
      {l10n.t('Your Conductor can learn from {0} earlier plans, {1} of them verified by your tests. Nobody is paid, and you decide about the result.', verified + other, verified)}
    </Notice>
  );
}

/** Who would plan, why, and what that would cost. */
function NextPlanner({ conductor, choice }: { readonly conductor: string; readonly choice: PlannerChoice }): JSX.Element {
  const words = [plannerReason(choice.why), ...estimateWords(choice.estimate)].join(' · ');
  return (
    <p class="quiet">
      {fillSentence(l10n.t('{0} plans: {1}.'), <strong>{conductor}</strong>, words)}{' '}<ChangePlanner>{l10n.t('Change…')}</ChangePlanner>
    </p>
  );
}

/** The workers that would take part, and those that are not ready. */
function PoolLine({ pool }: { readonly pool: PoolSummary }): JSX.Element {
  const host = useHost();
  const workers = pool.workers.filter((worker) => worker.enabled);
  const notReady = workers.filter((worker) => !worker.ready);
  return (
    <div class="pool">
      <p class="quiet">
        {l10n.t('Workers: {0}.', list(workers.map((worker) => worker.id)))}{' '}
        <button type="button" class="link" onClick={() => host.post({ type: 'addWorker' })}>{l10n.t('Add a worker')}</button>
      </p>
      {pool.conductor !== undefined && pool.choice && <NextPlanner conductor={pool.conductor} choice={pool.choice} />}
      {pool.conductor === undefined && (
        <Notice
          icon="warning" tone="caution"
          actions={
            <>
              <Button onClick={() => host.post({ type: 'addWorker' })}>{l10n.t('Add a worker')}</Button>
              <Button onClick={() => host.post({ type: 'chooseModel' })}>{l10n.t('Use a model on this machine')}</Button>
            </>
          }
        >
          {l10n.t('There is no Conductor yet: add a model, or choose one of the workers.')}
        </Notice>
      )}
      {notReady.map((worker) => (
        <p key={worker.id} class="quiet">
          <Icon name="warning" tone="caution" label={l10n.t('Not ready:')} /> {worker.id}: {worker.reason}
        </p>
      ))}
    </div>
  );
}
