import type { JSX } from 'preact';
import type { LoadedModelView, LocalModelStatus } from '../backend/protocol/local-models.ts';
import type { PanelModel } from '../backend/protocol/panel-messages.ts';
import { formatBytes } from '../backend/protocol/figures.ts';
import { Button, Icon } from './controls.tsx';
import { useHost } from './host.ts';
import { Notice } from './notice.tsx';

/** The models of this machine: what each is for, on which device, in how much memory, and how far its loading is. */
export function ModelLines({ models }: { readonly models: readonly PanelModel[] }): JSX.Element | null {
  if (models.length === 0) return null;
  return (
    <section class="models" aria-label="Models on this machine">
      {models.map((model) => <ModelLine key={model.model} model={model} />)}
    </section>
  );
}

function ModelLine({ model }: { readonly model: PanelModel }): JSX.Element {
  const { name, state, loaded, problem } = model;
  return (
    <div class="model">
      <p class="model-line">
        <Icon name={state === 'loading' ? 'loading' : 'chip'} tone={state === 'loading' ? 'busy' : 'quiet'} />
        <span><strong>{name}</strong> <span class="quiet">{partOf(model)} {factsOf(model)}</span></span>
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
      icon="warning" tone="caution" title="It could not be loaded"
      actions={<Button onClick={() => host.post({ type: 'chooseModel' })}>Choose another model</Button>}
    >
      {children}
    </Notice>
  );
}

function partOf({ plans, answers }: PanelModel): string {
  if (plans) return answers ? 'plans and answers' : 'plans';
  return 'answers';
}

function factsOf({ state, loaded }: PanelModel): string {
  switch (state) {
    case 'loading': return 'on this machine, once it is loaded';
    case 'ready': return loaded ? placeOf(loaded) : 'on this machine';
    case 'unloaded': return 'on this machine, loaded with the next question';
  }
}

function placeOf({ device, weightBytes, precision }: LoadedModelView): string {
  const held = precision === 'full' ? 'full precision' : `${precision} weights`;
  return `on the ${deviceName(device)} of this machine, ${formatBytes(weightBytes)} in ${held}`;
}

export function deviceName(device: LoadedModelView['device']): string {
  return device === 'cuda' ? 'GPU' : 'CPU';
}

function Loading({ model }: { readonly model: PanelModel }): JSX.Element {
  const host = useHost();
  const { fraction } = model;
  const percent = fraction === undefined ? undefined : Math.floor(fraction * 100);
  return (
    <div class="model-loading">
      {percent !== undefined && <progress aria-label={`Loading ${model.name}`} value={percent} max={100} />}
      <span class="quiet">{PHASES[model.phase ?? 'choosing-device']}{percent !== undefined && `, ${percent} %`}</span>
      <button type="button" class="link" onClick={() => host.post({ type: 'unloadModel', model: model.model })}>Stop loading</button>
    </div>
  );
}

const PHASES: Readonly<Record<NonNullable<LocalModelStatus['phase']>, string>> = {
  'choosing-device': 'Looking for a GPU',
  'fetching-libraries': 'Downloading the CUDA libraries',
  'reading': 'Checking its weights',
  'quantizing': 'Making its weights smaller, once',
  'loading': 'Reading its weights into memory',
};
