import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { EvaluationCommand, EvaluationPageState, OpenedSample } from '../../backend/protocol/evaluation-page.ts';
import type { ListedSample } from '../../backend/protocol/evaluations.ts';
import { formatUsd } from '../../backend/protocol/figures.ts';
import { Button, Icon } from '../controls.tsx';
import { formatCount } from '../language.ts';
import { WholeSampleView } from './whole-sample-view.tsx';

export interface SamplesViewProps {
  readonly state: EvaluationPageState;
  /** Of the contestants. */
  readonly names: readonly string[];
  readonly seeds: number;
  readonly post: (command: EvaluationCommand) => void;
}

/** The samples that the filter lets through. One at a time is open. */
export function SamplesView({ state: { filter, samples, allSamples, opened }, names, seeds, post }: SamplesViewProps): JSX.Element {
  const valueOf = ({ currentTarget }: JSX.TargetedEvent<HTMLSelectElement>): string => currentTarget.value;
  return (
    <section aria-labelledby="samples-title">
      <h2 id="samples-title">{l10n.t('Samples')}</h2>
      <div class="filters">
        <label>{l10n.t('Contestant')}{' '}
          <select value={filter.contestant} onChange={(event) => post({ type: 'filter', contestant: valueOf(event) })}>
            <option value="">{l10n.t('all')}</option>
            {names.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
        <label>{l10n.t('Answers')}{' '}
          <select value={filter.outcome} onChange={(event) => post({ type: 'filter', outcome: outcomeOf(valueOf(event)) })}>
            <option value="all">{l10n.t('all')}</option>
            <option value="right">{l10n.t('right ones')}</option>
            <option value="wrong">{l10n.t('wrong ones')}</option>
          </select>
        </label>
        <span class="quiet" role="status">{allSamples === 1 ? l10n.t('1 answer') : l10n.t('{0} answers', formatCount(allSamples))}</span>
      </div>
      <ul class="samples">
        {samples.map((sample) => <Item key={JSON.stringify([sample.contestant, sample.task, sample.seed])} sample={sample} opened={opened} seeds={seeds} post={post} />)}
      </ul>
      {samples.length < allSamples && <Button onClick={() => post({ type: 'more' })}>{l10n.t('Show More')}</Button>}
    </section>
  );
}

function Item({ sample, opened, seeds, post }: {
  readonly sample: ListedSample; readonly opened: OpenedSample | undefined; readonly seeds: number; readonly post: SamplesViewProps['post'];
}): JSX.Element {
  const { contestant, task, seed, verified, costUsd } = sample;
  const isOpen = opened?.contestant === contestant && opened.task === task && opened.seed === seed;
  return (
    <li>
      <button
        type="button" class="disclosure-title" aria-expanded={isOpen}
        onClick={() => post(isOpen ? { type: 'close' } : { type: 'open', contestant, task, seed })}
      >
        <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
        <span class={`outcome ${verified ? 'tone-good' : 'tone-bad'}`}>{verified ? l10n.t('✓ right') : l10n.t('✗ wrong')}</span>
        <span class="sample-name"><bdi>{task}</bdi> <span class="quiet"><bdi>{contestant}</bdi>{seeds > 1 && `, ${l10n.t('seed {0}', seed + 1)}`}</span></span>
        <span class="figures">{formatUsd(costUsd)}</span>
      </button>
      {isOpen && <div class="disclosure-body">{opened?.sample ? <WholeSampleView sample={opened.sample} /> : <p role="status">{l10n.t('Looking …')}</p>}</div>}
    </li>
  );
}

function outcomeOf(value: string): EvaluationPageState['filter']['outcome'] {
  return value === 'right' || value === 'wrong' ? value : 'all';
}
