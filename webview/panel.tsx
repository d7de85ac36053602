import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PanelState } from '../backend/protocol/panel-messages.ts';
import { Button } from './controls.tsx';
import { Header } from './header.tsx';
import { useHost } from './host.ts';
import { Notice } from './notice.tsx';
import { isWide, useWidth, WideContext } from './use-width.ts';
import { definitionOf } from './views.ts';

/** The page: a function of the latest state and of what the user opened and typed. */
export function Panel({ state }: { readonly state: PanelState }): JSX.Element {
  const { view } = state;
  const { subject, Content } = definitionOf(view);
  useFocusOnNewView(subject(view));
  const [main, width] = useWidth<HTMLElement>();
  return (
    <WideContext.Provider value={isWide(width)}>
      <Header state={state} />
      <main tabIndex={-1} ref={main}>
        <Backend state={state} />
        <Content key={subject(view)} view={view} state={state} />
        <Problem problem={state.problem} />
      </main>
      <Announcer view={view} />
    </WideContext.Provider>
  );
}

/** The pressed button disappears with the old view, so the focus moves to the start of the new view. */
function useFocusOnNewView(subject: string | undefined): void {
  const last = useRef(subject);
  useEffect(() => {
    if (last.current === subject) return;
    last.current = subject;
    window.scrollTo(0, 0);
    if (document.activeElement === document.body) document.querySelector('main')?.focus({ preventScroll: true });
  }, [subject]);
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

/** Shows why the last command was refused. Stays visible on a long page. */
function Problem({ problem }: Pick<PanelState, 'problem'>): JSX.Element {
  const host = useHost();
  return (
    <div class="problem" role="alert">
      {problem && <Notice icon="error" tone="bad" onDismiss={() => host.post({ type: 'dismissProblem' })}>{problem}</Notice>}
    </div>
  );
}

/** Announces changes to screen readers, in whole sentences rather than token by token. */
function Announcer({ view }: Pick<PanelState, 'view'>): JSX.Element {
  const last = useRef(view);
  const [said, setSaid] = useState('');
  useEffect(() => {
    const before = last.current;
    last.current = view;
    const { subject, news } = definitionOf(view);
    // An announcement about another run must not be repeated here.
    if (before.kind !== view.kind || subject(before) !== subject(view)) return setSaid('');
    const text = news(before, view);
    if (text) setSaid(text);
  }, [view]);
  return <div class="visually-hidden" role="status" aria-live="polite">{said}</div>;
}
