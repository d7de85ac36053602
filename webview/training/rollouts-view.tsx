import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatUsd } from '../../backend/protocol/figures.ts';
import { MAX_TOLD_ROLLOUTS, rolloutsOf } from '../../backend/protocol/training-facts.ts';
import type { Rollout, Training, WholeRollout } from '../../backend/protocol/training.ts';
import { Icon, type IconName, type Tone } from '../controls.tsx';
import { useHost } from '../host.ts';
import { visibleText } from '../markdown/visible-text.ts';
import { WholeRolloutView } from './whole-rollout-view.tsx';

type StepRollouts = NonNullable<Training['rollouts']>;

/** The sampled plans of the current step, as they arrive. While the user views one of them, its step stays visible. */
export function RolloutsView({ training, whole, isUnderWay }: {
  readonly training: Pick<Training, 'trainingId' | 'rollouts' | 'config'>;
  readonly whole: WholeRollout | undefined;
  readonly isUnderWay: boolean;
}): JSX.Element | null {
  const { trainingId, rollouts: current, config } = training;
  const host = useHost();
  const [open, setOpen] = useState<string>();
  const held = useRef<StepRollouts>();
  if (open === undefined || held.current?.step === current?.step) held.current = current;
  const area = useSteadyHeight(open === undefined && isUnderWay);
  const shown = held.current;
  if (!shown || !current) return null;

  const look = (runId: string | undefined): void => {
    setOpen(runId);
    host.post({ type: 'rollout', trainingId, ...(runId !== undefined && { runId }) });
  };
  const judged = shown.list.filter(({ outcome }) => outcome !== 'running').length;
  const planned = rolloutsOf({ ...config, steps: 1 });
  return (
    <section class="rollouts" aria-labelledby="rollouts-title">
      <div class="row section-title">
        <h2 id="rollouts-title">{l10n.t('Plans of step {0}', shown.step)}</h2>
        <span class="figures">{l10n.t('{0} of {1} done', judged, planned)}</span>
      </div>
      {shown.step !== current.step && (
        <p class="quiet rollouts-held">{l10n.t('Step {0} has begun: its plans come when this one is closed.', current.step)}</p>
      )}
      <div ref={area}>
        {groupsOf(shown.list).map(({ place, question, rollouts }) => (
          <div key={place} class="rollout-group" role="group" aria-label={l10n.t('Task {0}', place + 1)}>
            <h3 class="quiet" dir="auto" title={visibleText(question)}>{visibleText(question)}</h3>
            <ul>
              {rollouts.map((rollout) => {
                const { runId } = rollout;
                return (
                  <RolloutRow
                    key={runId} rollout={rollout} isUnderWay={isUnderWay} isOpen={open === runId} whole={whole?.runId === runId ? whole : undefined}
                    onToggle={() => look(open === runId ? undefined : runId)}
                  />
                );
              })}
            </ul>
          </div>
        ))}
        {planned > MAX_TOLD_ROLLOUTS && shown.list.length >= MAX_TOLD_ROLLOUTS && (
          <p class="quiet">{l10n.t('The first {0} of {1} are shown.', MAX_TOLD_ROLLOUTS, planned)}</p>
        )}
      </div>
    </section>
  );
}

function RolloutRow({ rollout, isUnderWay, isOpen, whole, onToggle }: {
  readonly rollout: Rollout; readonly isUnderWay: boolean; readonly isOpen: boolean; readonly whole: WholeRollout | undefined; readonly onToggle: () => void;
}): JSX.Element {
  const { sample, revises, steps, text, reward, costUsd, place } = rollout;
  const { words, icon, tone } = outcomeOf(rollout, isUnderWay);
  const name = revises ? l10n.t('Plan {0}, revised', sample + 1) : l10n.t('Plan {0}', sample + 1);
  const figures = [...(reward === undefined ? [] : [l10n.t('reward {0}', reward.toFixed(2))]), ...(costUsd === undefined ? [] : [formatUsd(costUsd)])];
  return (
    <li class="rollout">
      <button type="button" class="rollout-title" aria-expanded={isOpen} onClick={onToggle}>
        <Icon name={icon} tone={tone} />
        <span><strong>{name}</strong><span class="visually-hidden"> {l10n.t('of task {0}', place + 1)}</span> {words} </span>
        <span class="figures">{figures.join(' · ')}</span>
      </button>
      {isOpen
        ? <div class="rollout-whole">{whole ? <WholeRolloutView whole={whole} /> : <p class="quiet">{l10n.t('Reading the plan…')}</p>}</div>
        : (
          <>
            {steps.length > 0 && (
              <ol class="rollout-steps">
                {steps.map(({ worker, subtask }, index) => (
                  <li key={index}><bdi class="rollout-worker">{worker}</bdi> <span class="quiet" dir="auto">{visibleText(subtask)}</span></li>
                ))}
              </ol>
            )}
            {text !== undefined && <p class="rollout-steps quiet" dir="auto">{visibleText(text) || l10n.t('Nothing was written.')}</p>}
          </>
        )}
    </li>
  );
}

function outcomeOf({ outcome }: Rollout, isUnderWay: boolean): { readonly words: string; readonly icon: IconName; readonly tone: Tone } {
  switch (outcome) {
    case 'running':
      return isUnderWay
        ? { words: l10n.t('is carried out'), icon: 'loading', tone: 'busy' }
        : { words: l10n.t('not finished'), icon: 'circle-outline', tone: 'quiet' };
    case 'verified':
      return { words: l10n.t('verified'), icon: 'pass-filled', tone: 'good' };
    case 'passes':
      return { words: l10n.t('tests pass, not verified'), icon: 'pass', tone: 'caution' };
    case 'not-verified':
      return { words: l10n.t('not verified'), icon: 'error', tone: 'bad' };
    case 'unparseable':
      return { words: l10n.t('could not be read'), icon: 'circle-slash', tone: 'quiet' };
    case 'unknown':
      return { words: l10n.t('could not be judged'), icon: 'warning', tone: 'caution' };
  }
}

interface RolloutGroup {
  readonly place: number;
  readonly question: string;
  readonly rollouts: readonly Rollout[];
}

/** Groups by task, each in the order of samples, so that updates do not move plans. */
function groupsOf(list: readonly Rollout[]): readonly RolloutGroup[] {
  const byPlace = Map.groupBy(list, ({ place }) => place);
  return [...byPlace].sort(([a], [b]) => a - b).map(([place, rollouts]) => ({
    place,
    question: rollouts[0]?.question ?? '',
    rollouts: rollouts.toSorted((a, b) => Number(a.revises) - Number(b.revises) || a.sample - b.sample),
  }));
}

/** Keeps the largest height so far, so that the page does not jump when a step begins without plans. */
function useSteadyHeight(isSteady: boolean): { current: HTMLDivElement | null } {
  const area = useRef<HTMLDivElement>(null);
  const most = useRef(0);
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.minHeight = '';
    most.current = isSteady ? Math.max(most.current, element.offsetHeight) : 0;
    if (isSteady) element.style.minHeight = `${most.current}px`;
  });
  return area;
}
