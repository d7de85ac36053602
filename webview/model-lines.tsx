import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { LoadedModelView, LocalModelStatus } from '../backend/protocol/local-models.ts';
import type { PanelModel } from '../backend/protocol/panel-messages.ts';
import { deviceName } from '../backend/protocol/devices.ts';
import { formatBytes } from '../backend/protocol/figures.ts';
import { Button, Icon } from './controls.tsx';
import { useHost } from './host.ts';
import { Notice } from './notice.tsx';

/** The local models: the role, device, memory and loading progress of each. */
export function ModelLines({ models, conductor }: {
  readonly models: readonly PanelModel[];
  /** The Conductor in the page's header. */
  readonly conductor: string | undefined;
}): JSX.Element | null {
  if (models.length === 0) return null;
  return (
    <section class="models" aria-label={l10n.t('Models on this machine')}>
      {models.map((model) => <ModelLine key={model.model} model={model} isNamed={model.name === conductor} />)}
    </section>
  );
}

function ModelLine({ model, isNamed }: { readonly model: PanelModel; readonly isNamed: boolean }): JSX.Element {
  const { name, state, loaded, problem } = model;
  return (
    <div class="model">
      <p class="model-line">
        <Icon name={state === 'loading' ? 'loading' : 'chip'} tone={state === 'loading' ? 'busy' : 'quiet'} />
        <span><strong>{isNamed ? l10n.t('The Conductor') : name}</strong> <span class="quiet">{partOf(model)} · {factsOf(model)}</span></span>
      </p>
      {state === 'loading' && <Loading model={model} />}
      {state === 'ready' && loaded?.reasons.map((reason) => <p key={reason} class="model-reason quiet">{reason}</p>)}
      {state === 'unloaded' && problem !== undefined && <Problem>{problem}</Problem>}
    </div>
  );
}

function Problem({ children }: { readonly children: string }): JSX.Element {
  const host = useHost();
  return (
    <Notice
      icon="warning" tone="caution" title={l10n.t('It could not be loaded')}
      actions={<Button onClick={() => host.post({ type: 'chooseModel' })}>{l10n.t('Choose another model')}</Button>}
    >
      {children}
    </Notice>
  );
}

function partOf({ plans, answers }: PanelModel): string {
  if (plans) return answers ? l10n.t('plans and answers') : l10n.t('plans');
  return l10n.t('answers');
}

function factsOf({ state, loaded }: PanelModel): string {
  switch (state) {
    case 'loading': return l10n.t('on this machine, once it is loaded');
    case 'ready': return loaded ? placeOf(loaded) : l10n.t('on this machine');
    case 'unloaded': return l10n.t('on this machine, loaded with the next question');
  }
}

function placeOf({ device, weightBytes, precision }: LoadedModelView): string {
  const [name, size] = [deviceName(device), formatBytes(weightBytes)];
  return precision === 'full'
    ? l10n.t('on the {0} of this machine, {1} in full precision', name, size)
    : l10n.t('on the {0} of this machine, {1} in {2} weights', name, size, precision);
}

function Loading({ model }: { readonly model: PanelModel }): JSX.Element {
  const host = useHost();
  const { fraction } = model;
  const phase = phaseText(model.phase ?? 'choosing-device');
  const percent = fraction === undefined ? undefined : Math.floor(fraction * 100);
  return (
    <div class="model-loading">
      {percent !== undefined && <progress aria-label={l10n.t('Loading {0}', model.name)} value={percent} max={100} />}
      <span class="quiet">{percent === undefined ? phase : l10n.t('{0}, {1} %', phase, percent)}</span>
      <button type="button" class="link" onClick={() => host.post({ type: 'unloadModel', model: model.model })}>
        {l10n.t('Stop loading')}
      </button>
    </div>
  );
}

function phaseText(phase: NonNullable<LocalModelStatus['phase']>): string {
  switch (phase) {
    case 'choosing-device': return l10n.t('Looking for a GPU');
    case 'fetching-libraries': return l10n.t('Downloading the CUDA libraries');
    case 'trying': return l10n.t('Trying the GPU, once');
    case 'reading': return l10n.t('Checking its weights');
    case 'quantizing': return l10n.t('Making its weights smaller, once');
    case 'loading': return l10n.t('Reading its weights into memory');
  }
}
