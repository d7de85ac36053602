import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PanelState } from '../backend/protocol/panel-messages.ts';
import { announcementOf } from './announcement.ts';
import { AskView } from './ask-view.tsx';
import { Button } from './controls.tsx';
import { Header } from './header.tsx';
import { useHost } from './host.ts';
import { Notice } from './notice.tsx';
import { RunView } from './run-view.tsx';
import { trainingNews } from './training/training-stage.ts';
import { TrainingView } from './training/training-view.tsx';
import { isWide, useWidth, WideContext } from './use-width.ts';

/** The page: a function of the last state that came, and of what the person opened and typed. */
export function Panel({ state }: { readonly state: PanelState }): JSX.Element {
  useFocusOnNewView(state.training?.trainingId ?? state.run?.runId);
  const [main, width] = useWidth<HTMLElement>();
  return (
    <WideContext.Provider value={isWide(width)}>
      <Header state={state} />
      <main tabIndex={-1} ref={main}>
        <Backend state={state} />
        <View state={state} />
        <Problem problem={state.problem} />
      </main>
      <Announcer run={state.run} training={state.training} />
    </WideContext.Provider>
  );
}

function View({ state }: { readonly state: PanelState }): JSX.Element {
  const { training, trainingTasks, rollout, run } = state;
  if (training) return <TrainingView key={training.trainingId} training={training} tasks={trainingTasks} rollout={rollout} />;
  return run ? <RunView key={run.runId} run={run} state={state} /> : <AskView state={state} />;
}

/** The button that led to another view is gone with the old one: the keyboard goes on at the new view's beginning. */
function useFocusOnNewView(view: string | undefined): void {
  const last = useRef(view);
  useEffect(() => {
    if (last.current === view) return;
    last.current = view;
    window.scrollTo(0, 0);
    if (document.activeElement === document.body) document.querySelector('main')?.focus({ preventScroll: true });
  }, [view]);
}

function Backend({ state: { backend } }: { readonly state: PanelState }): JSX.Element | null {
  const host = useHost();
  switch (backend.state) {
    case 'connected':
      return null;
    case 'starting':
      return <Notice icon="loading" tone="busy">{backend.message ?? l10n.t('Starting the backend…')}</Notice>;
    case 'unavailable':
      return (
        <Notice
          icon="error" tone="bad" title={l10n.t('The backend is not running')}
          actions={
            <>
              <Button appearance="primary" onClick={() => host.post({ type: 'retryBackend' })}>{l10n.t('Try again')}</Button>
              <Button onClick={() => host.post({ type: 'showLogs' })}>{l10n.t('Show logs')}</Button>
            </>
          }
        >
          {backend.message}
        </Notice>
      );
  }
}

/** Why the last command was refused: where people look, however long the page is. */
function Problem({ problem }: Pick<PanelState, 'problem'>): JSX.Element {
  const host = useHost();
  return (
    <div class="problem" role="alert">
      {problem && <Notice icon="error" tone="bad" onDismiss={() => host.post({ type: 'dismissProblem' })}>{problem}</Notice>}
    </div>
  );
}

/** Tells screen readers what changed, in whole sentences and not for every token. */
function Announcer({ run, training }: Pick<PanelState, 'run' | 'training'>): JSX.Element {
  const last = useRef({ run, training });
  const [said, setSaid] = useState('');
  useEffect(() => {
    const news = announcementOf(last.current.run, run) || trainingNews(last.current.training, training);
    const isOther = last.current.run?.runId !== run?.runId || last.current.training?.trainingId !== training?.trainingId;
    last.current = { run, training };
    // What was said of another run is not heard again on this one's page.
    if (news || isOther) setSaid(news);
  }, [run, training]);
  return <div class="visually-hidden" role="status" aria-live="polite">{said}</div>;
}
