import * as l10n from '@vscode/l10n';
import type { ComponentChildren, JSX } from 'preact';
import { useContext } from 'preact/hooks';
import { deviceName } from '../../backend/protocol/devices.ts';
import { formatDuration, formatMoney } from '../../backend/protocol/figures.ts';
import { estimateWords, plannerReason } from '../../backend/protocol/planner-words.ts';
import { noTryWords } from '../../backend/protocol/local-first-words.ts';
import { mendOf } from '../../backend/protocol/plan-mend-words.ts';
import { firstPlanned } from '../../backend/protocol/run-facts.ts';
import type { RoundView } from '../../backend/protocol/run-snapshot.ts';
import { Icon } from '../controls.tsx';
import { fillSentence } from '../fill-sentence.ts';
import { useHost } from '../host.ts';
import { RunContext } from './step-details.tsx';

/** Who plans, why, and what that is expected to cost; while the plan is written. */
export function Planner(): JSX.Element | null {
  const run = useContext(RunContext);
  const { choice, worker } = run?.policy ?? {};
  if (!choice || !worker) return null;
  return <p class="quiet planned-by">{[l10n.t('{0}, {1}', worker.id, plannerReason(choice.why)), ...estimateWords(choice.estimate)].join(' · ')}</p>;
}

/** Who planned and why, what it cost and how long it took. The reason stands in the first round alone. */
export function PlannedBy({ round }: { readonly round: RoundView }): JSX.Element | null {
  const run = useContext(RunContext);
  if (!run) return null;
  const { policy: { choice, worker, model } } = run;
  const name = <strong>{worker?.id ?? model}</strong>;
  const isFirst = round.index === firstPlanned(run);
  return (
    <>
    <p class="quiet planned-by">
      {choice && isFirst ? fillSentence(l10n.t('Planned by {0}, {1}'), name, plannerReason(choice.why)) : fillSentence(l10n.t('Planned by {0}'), name)}
      {figuresOf(round).map((figure) => <> · <span class="whole">{figure}</span></>)}
      {isFirst && choice?.why !== 'simulated' && <> · <ChangePlanner>{l10n.t('Change…')}</ChangePlanner></>}
    </p>
    {isFirst && run.noTry && <p class="quiet planned-by">{noTryWords(run.noTry)}</p>}
    </>
  );
}

/** What became of a plan that made no sense; nothing where the plan was taken as it was written. */
export function PlanMended({ round }: { readonly round: RoundView }): JSX.Element | null {
  const sentence = mendOf(round);
  return sentence === undefined ? null : <p class="note plan-mended"><Icon name="info" tone="quiet" /> {sentence}</p>;
}

/** A link to the choice of the model that plans. */
export function ChangePlanner({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const host = useHost();
  return (
    <button type="button" class="link" aria-label={l10n.t('Change who plans')} onClick={() => host.post({ type: 'chooseConductor' })}>{children}</button>
  );
}

function figuresOf({ planSpent, planDurationMs, sampled }: RoundView): string[] {
  if (planDurationMs === undefined) return [];
  const took = formatDuration(planDurationMs);
  return [
    ...(planSpent ? [formatMoney(planSpent)] : []),
    sampled ? l10n.t('{0} on the {1}', took, deviceName(sampled.device)) : took,
  ];
}
