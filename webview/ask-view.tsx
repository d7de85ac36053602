import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ContextPreview, PanelState, PoolSummary } from '../backend/protocol/panel-messages.ts';
import { readingOf } from '../backend/protocol/test-runners.ts';
import { Button, Icon, TextArea } from './controls.tsx';
import { ContextView } from './context-view.tsx';
import { useHost } from './host.ts';
import { visibleText } from './markdown/visible-text.ts';
import { ModelLines } from './model-lines.tsx';
import { Notice } from './notice.tsx';
import { list } from './run-stage.ts';
import { RunsList } from './runs-list.tsx';
import { TrainingsList } from './training/trainings-list.tsx';

/** Where a question is asked, and past runs are found again. */
export function AskView({ state }: { readonly state: PanelState }): JSX.Element {
  const { pool, runs, trainings, trusted } = state;
  const workers = pool?.workers.filter((worker) => worker.enabled) ?? [];
  const firstRun = pool !== undefined && workers.length === 0;
  return (
    <>
      {!trusted && <Restricted />}
      {firstRun ? <NoWorkers draft={state.draft?.question} /> : <Ask state={state} />}
      {pool && !firstRun && <PoolLine pool={pool} />}
      <ModelLines models={state.models} />
      <RunsList runs={runs} />
      <TrainingsList trainings={trainings} />
    </>
  );
}

function Ask({ state: { draft, trusted, backend, pool } }: { readonly state: PanelState }): JSX.Element {
  const host = useHost();
  const [question, setQuestion] = useDraft(draft?.question);
  const ready = trusted && backend.state === 'connected' && pool?.conductor !== undefined;
  const empty = question.trim() === '';
  const solve = (): void => {
    if (ready && !empty) host.post({ type: 'solve', question });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) solve();
  };
  const isCurrent = draft?.question.trim() === question.trim();
  return (
    <section class="ask" aria-label="Ask">
      <TextArea
        label="Ask a coding question" value={question} rows={5} onInput={setQuestion} onKeyDown={onKeyDown}
        placeholder="Why does merge() lose the outer interval? Name files with #file."
      />
      <div class="actions">
        <Button appearance="primary" disabled={!ready || empty} onClick={solve}>Solve</Button>
        <Button disabled={empty || backend.state !== 'connected'} onClick={() => host.post({ type: 'previewContext', question })}>
          Show context
        </Button>
        <span class="quiet keys"><kbd>Ctrl</kbd>/<kbd>⌘</kbd> <kbd>Enter</kbd></span>
      </div>
      {isCurrent && draft?.problem && <Notice icon="warning" tone="caution">{draft.problem}</Notice>}
      {isCurrent && draft?.preview && <Preview preview={draft.preview} />}
    </section>
  );
}

/** The question as typed, kept over reloads. One that comes from outside replaces it, once. */
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
  const reading = preview.testRunner === undefined ? '' : ` (${readingOf(preview.testRunner)})`;
  return (
    <div class="preview">
      <p class="label">Would be sent with the question</p>
      <ContextView context={preview} id="preview" />
      <p class="quiet">
        {preview.testCommand === null
          ? 'No test command was found or named: the answer stays unchecked.'
          : <>The answer is checked with <code>{visibleText(preview.testCommand)}</code>{reading}.</>}{' '}
        <button type="button" class="link" onClick={() => host.post({ type: 'chooseTests' })}>
          {preview.testCommand === null ? 'Choose one' : 'Choose another'}
        </button>
      </p>
    </div>
  );
}

function NoWorkers({ draft }: { readonly draft: string | undefined }): JSX.Element {
  const host = useHost();
  // Kept for when somebody can answer it.
  useDraft(draft);
  return (
    <section class="first-run" aria-label="First steps">
      <h2>Add your first worker</h2>
      <p>A worker is a model that answers parts of your questions. Take one from a provider, or have one on this machine.</p>
      <Button appearance="primary" icon="add" onClick={() => host.post({ type: 'addWorker' })}>Add a worker</Button>
      <Button icon="cloud-download" onClick={() => host.post({ type: 'chooseModel' })}>Download a model and use it here</Button>
      <Button icon="beaker" onClick={() => host.post({ type: 'demonstrate' })}>See a demonstration first</Button>
      <p class="quiet">A model on this machine needs no key, and no network once it is downloaded. It plans and answers.</p>
      <p class="quiet">
        The demonstration mends a bug of a sample project. Its workers are simulated and say so; the first worker of yours ends it.
      </p>
    </section>
  );
}

function Restricted(): JSX.Element {
  const host = useHost();
  return (
    <Notice
      icon="shield" tone="caution" title="Restricted Mode"
      actions={<Button onClick={() => host.post({ type: 'manageTrust' })}>Manage trust</Button>}
    >
      Questions send files and run tests of this workspace. Trust it first; past runs can be read without.
    </Notice>
  );
}

/** Who would work on the question, and who cannot as things stand. */
function PoolLine({ pool }: { readonly pool: PoolSummary }): JSX.Element {
  const host = useHost();
  const workers = pool.workers.filter((worker) => worker.enabled);
  const notReady = workers.filter((worker) => !worker.ready);
  return (
    <div class="pool">
      <p class="quiet">
        Workers: {list(workers.map((worker) => worker.id))}.{' '}
        <button type="button" class="link" onClick={() => host.post({ type: 'addWorker' })}>Add a worker</button>
      </p>
      {pool.conductor === undefined && (
        <Notice
          icon="warning" tone="caution"
          actions={
            <>
              <Button onClick={() => host.post({ type: 'addWorker' })}>Add a worker</Button>
              <Button onClick={() => host.post({ type: 'chooseModel' })}>Use a model on this machine</Button>
            </>
          }
        >
          No model plays the Conductor yet: add one, or name one of the workers.
        </Notice>
      )}
      {notReady.map((worker) => (
        <p key={worker.id} class="quiet">
          <Icon name="warning" tone="caution" label="Not ready: " /> {worker.id}: {worker.reason}
        </p>
      ))}
    </div>
  );
}
