import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { PanelState } from '../backend/protocol/panel-messages.ts';
import { Icon, ToolButton } from './controls.tsx';
import { useHost } from './host.ts';
import { list } from './language.ts';

/** Who conducts, and whether anything here is only simulated: the two things that hold for all below. */
export function Header({ state }: { readonly state: PanelState }): JSX.Element {
  const host = useHost();
  const conductor = conductorOf(state);
  const simulated = simulatedWorkers(state);
  return (
    <header class="page-header">
      <h1 class="visually-hidden">{l10n.t('Conductor')}</h1>
      <div class="row">
        {(state.run ?? state.training) && (
          <ToolButton icon="arrow-left" label={l10n.t('Runs')} text={l10n.t('Runs')} onClick={() => host.post({ type: 'newQuestion' })} />
        )}
        <span class="conductor" title={state.training?.model ?? state.run?.policy.model}>
          {conductor
            ? <><span class="conductor-word">{l10n.t('Conductor')}</span> <strong>{conductor}</strong></>
            : state.pool && l10n.t('No Conductor yet')}
        </span>
        {state.run && host.place === 'side' && (
          <ToolButton
            icon="screen-full" label={l10n.t('Open in an editor, with room for the graph')}
            onClick={() => host.post({ type: 'openInEditor' })}
          />
        )}
      </div>
      {state.training?.simulated && (
        <p class="simulated">
          <Icon name="beaker" />
          <span>{l10n.t('Simulated: the workers of this training are a simulator, so its scores say nothing about real models.')}</span>
        </p>
      )}
      {simulated.length > 0 && (
        <p class="simulated">
          <Icon name="beaker" />
          <span>
            {simulated.length === 1
              ? l10n.t('Simulated: {0} answers from a simulator, not from a real model.', list(simulated))
              : l10n.t('Simulated: {0} answer from a simulator, not from a real model.', list(simulated))}
          </span>
        </p>
      )}
    </header>
  );
}

function conductorOf({ run, training, pool }: PanelState): string | undefined {
  if (training) return training.conductor;
  if (run) return run.policy.worker?.id ?? run.policy.model;
  return pool?.conductor;
}

/** Of the run on show, whoever is in the pool by now; otherwise of the pool. */
function simulatedWorkers({ run, training, pool }: PanelState): string[] {
  if (training) return [];
  const workers = run ? [...(run.policy.worker ? [run.policy.worker] : []), ...run.pool] : (pool?.workers ?? []);
  return [...new Set(workers.filter((worker) => worker.simulated).map((worker) => worker.id))];
}
