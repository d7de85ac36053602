import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { PanelState } from '../backend/protocol/panel-messages.ts';
import { Icon, ToolButton } from './controls.tsx';
import { useHost } from './host.ts';
import { definitionOf } from './views.ts';

/** Shows the Conductor's name, and whether results below are simulated. */
export function Header({ state: { view, pool } }: { readonly state: PanelState }): JSX.Element {
  const host = useHost();
  const { subject, header } = definitionOf(view);
  const { conductor, model, simulated, hasGraph } = header(view, pool);
  return (
    <header class="page-header">
      <h1 class="visually-hidden">{l10n.t('Conductor')}</h1>
      <div class="row">
        {subject(view) !== undefined && (
          <ToolButton icon="arrow-left" label={l10n.t('Runs')} text={l10n.t('Runs')} onClick={() => host.post({ type: 'newQuestion' })} />
        )}
        <span class="conductor" title={model}>
          {conductor
            ? <><span class="conductor-word">{l10n.t('Conductor')}</span> <strong>{conductor}</strong></>
            : pool && l10n.t('No Conductor yet')}
        </span>
        {hasGraph && host.place === 'side' && (
          <ToolButton
            icon="screen-full" label={l10n.t('Open in an editor, with room for the graph')}
            onClick={() => host.post({ type: 'openInEditor' })}
          />
        )}
      </div>
      {simulated && (
        <p class="simulated">
          <Icon name="beaker" />
          <span>{simulated}</span>
        </p>
      )}
    </header>
  );
}
