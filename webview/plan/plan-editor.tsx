import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { MOST_CHARACTERS, MOST_STEPS } from '../../backend/protocol/plan-limits.ts';
import type { Plan } from '../../backend/protocol/plan.ts';
import type { RoundView, RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { costWords, estimateReasons, tokenWords } from '../../backend/protocol/work-estimate-words.ts';
import type { StepEstimate, WorkEstimate } from '../../backend/protocol/work-estimate.ts';
import { Button, Icon, ToolButton } from '../controls.tsx';
import { fillSentence } from '../fill-sentence.ts';
import { useHost, useReply } from '../host.ts';
import { workerName } from '../run-stage.ts';
import { useDecision } from '../use-decision.ts';
import { useUniqueId } from '../use-unique-id.ts';
import { edgesOf, gutterWidth } from './edges.ts';
import {
  editedFrom, isChanged, isComplete, isUsed, planOf, positionsRead, readEditedPlan, withNewStep, withoutStep, withRead, withStep,
  type EditedPlan,
} from './edited-plan.ts';
import { Gutter, useCardBoxes, workerColour } from './plan-list.tsx';

/** A pause in typing after which the estimate is asked for again, in milliseconds. */
const ESTIMATE_PAUSE = 400;

interface PlanEditorProps {
  /** No attempt reads what another one wrote. */
  readonly isAttempt: boolean;
  readonly round: RoundView;
  readonly plan: Plan;
  readonly attemptId: string;
  readonly estimate: WorkEstimate;
  readonly run: Pick<RunSnapshot, 'runId' | 'pool'>;
}

/** The plan that waits for a person: what it is expected to cost, and how it may be changed before a worker is paid. */
export function PlanEditor({ round, isAttempt, plan, attemptId, estimate, run }: PlanEditorProps): JSX.Element {
  const host = useHost();
  const [steps, change] = useEditedPlan(`${run.runId}/${round.index}/${attemptId}`, plan, run.pool.length);
  const [forTraining, setForTraining] = useState(false);
  const { send, isSent, problem } = useDecision();
  const changed = isChanged(steps, plan);
  const current = useEstimate({ run, round: round.index, steps, changed, estimate });
  const focusAt = useFocusOnStep();
  const shown = { runId: run.runId, round: round.index, attemptId };
  const add = (position: number): void => {
    change(withNewStep(steps, position));
    focusAt.next(position);
  };
  const remove = (position: number): void => {
    change(withoutStep(steps, steps[position]?.key ?? -1));
    focusAt.next(Math.min(position, steps.length - 2));
  };
  return (
    <section class="plan-editor" aria-label={l10n.t('The plan, before its workers are paid')}>
      <p class="note">{l10n.t('None of its workers has been paid yet. Run the plan as it is, change it, or ask for another one.')}</p>
      <EditedSteps
        steps={steps} change={change} pool={run.pool} round={isAttempt ? 0 : round.index} estimates={current.value?.steps} root={focusAt.ref} add={add} remove={remove}
      />
      <div class="actions">
        <Button icon="add" disabled={steps.length >= MOST_STEPS} onClick={() => add(steps.length)}>{l10n.t('Add a step at the end')}</Button>
        {steps.length >= MOST_STEPS && <span class="quiet">{l10n.t('A plan has at most {0} steps.', MOST_STEPS)}</span>}
        {changed && <Button onClick={() => change(editedFrom(plan))}>{l10n.t('Undo changes')}</Button>}
      </div>
      <Expected estimate={current.value} problem={current.problem} />
      {changed && (
        <Check checked={forTraining} onChange={setForTraining}>
          {l10n.t('Let Conductor learn from this changed plan: how it turns out counts for the records of its workers.')}
        </Check>
      )}
      <div class="actions">
        <Button
          appearance="primary" disabled={isSent || !isComplete(steps)}
          onClick={() => send((to) => to.ask<'approvePlan'>({ type: 'approvePlan', ...shown, ...(changed && { plan: planOf(steps) }), forTraining: changed && forTraining }))}
        >
          {changed ? l10n.t('Run the changed plan') : l10n.t('Run this plan')}
        </Button>
        <Button disabled={isSent} onClick={() => host.post({ type: 'cancel', runId: run.runId })} label={l10n.t('Cancel: pay for nothing more')}>{l10n.t('Cancel')}</Button>
      </div>
      {!isComplete(steps) && <p class="note tone-caution">{l10n.t('Each step needs an instruction.')}</p>}
      <Replan disabled={isSent} onAsk={(wish) => send((to) => to.ask<'replan'>({ type: 'replan', ...shown, ...(wish !== '' && { wish }) }))} />
      <p class="note tone-bad" role="alert" dir="auto">{problem}</p>
    </section>
  );
}

/** The plan with its changes, kept over reloads of the page. */
function useEditedPlan(key: string, plan: Plan, workers: number): [EditedPlan, (steps: EditedPlan) => void] {
  const host = useHost();
  const [byHand, setByHand] = useState<{ readonly key: string; readonly steps: EditedPlan }>();
  const steps = byHand?.key === key ? byHand.steps : (readEditedPlan(host.view.plans[key], workers) ?? editedFrom(plan));
  return [steps, (next) => {
    host.rememberPlan(key, next);
    setByHand({ key, steps: next });
  }];
}

/** The estimate of the plan as it is now, asked for when the person pauses; the one before stays until it comes. */
function useEstimate({ run, round, steps, changed, estimate }: {
  readonly run: PlanEditorProps['run']; readonly round: number; readonly steps: EditedPlan; readonly changed: boolean; readonly estimate: WorkEstimate;
}): { readonly value: WorkEstimate | undefined; readonly problem?: string } {
  const wanted = changed && isComplete(steps) ? JSON.stringify(planOf(steps)) : undefined;
  const settled = useSettled(wanted);
  const reply = useReply<'planEstimate'>(settled === undefined ? undefined : { type: 'planEstimate', runId: run.runId, round, plan: JSON.parse(settled) as Plan });
  const last = useRef<WorkEstimate>();
  if (reply.state === 'there') last.current = reply.value;
  if (!changed) return { value: estimate };
  if (settled !== undefined && reply.state === 'none') return { value: undefined, problem: reply.problem };
  const value = last.current ?? estimate;
  // A number for each step, or none: the last estimate may be of another number of steps.
  return { value: value.steps.length === steps.length ? value : undefined };
}

function useSettled(value: string | undefined): string | undefined {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    if (value === undefined) return undefined;
    const timer = setTimeout(() => setSettled(value), ESTIMATE_PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Puts the focus into a step that was added, or beside one that was removed, once it is drawn. */
function useFocusOnStep(): { readonly ref: { current: HTMLOListElement | null }; readonly next: (position: number) => void } {
  const ref = useRef<HTMLOListElement>(null);
  const wanted = useRef<number>();
  useEffect(() => {
    if (wanted.current === undefined) return;
    ref.current?.children[wanted.current]?.querySelector('textarea')?.focus();
    wanted.current = undefined;
  });
  return { ref, next: (position) => { wanted.current = position; } };
}

interface EditedStepsProps {
  readonly steps: EditedPlan;
  readonly change: (steps: EditedPlan) => void;
  readonly pool: RunSnapshot['pool'];
  readonly round: number;
  readonly estimates: readonly StepEstimate[] | undefined;
  readonly root: { current: HTMLOListElement | null };
  readonly add: (position: number) => void;
  readonly remove: (position: number) => void;
}

/** The steps as cards, with lines at the left for what each may read. */
function EditedSteps({ steps, pool, root, ...more }: EditedStepsProps): JSX.Element {
  const shape = steps.map(({ worker }, index) => ({ index, worker, reads: positionsRead(steps, index) }));
  const edges = edgesOf(shape);
  const boxes = useCardBoxes(root, steps.length);
  return (
    <div class="graph" style={{ '--gutter': `${gutterWidth(edges)}px` }}>
      <Gutter edges={edges} boxes={boxes} active={undefined} steps={shape} />
      <ol class="cards" ref={root} aria-label={l10n.t('Plan')}>
        {steps.map(({ key, worker }, index) => (
          <li key={key} class="step edited-step" data-step={index} data-worker={workerColour(worker)}>
            <EditedStepCard steps={steps} index={index} pool={pool} {...more} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function EditedStepCard({ steps, index, change, pool, round, estimates, add, remove }: Omit<EditedStepsProps, 'root'> & { readonly index: number }): JSX.Element | null {
  const step = steps[index];
  const id = useUniqueId();
  if (!step) return null;
  const number = index + 1;
  const estimate = estimates?.[index];
  return (
    <>
      <div class="row">
        <h4>{l10n.t('Step {0}', number)}</h4>
        <select
          class="choice" aria-label={l10n.t('Worker of step {0}', number)} value={String(step.worker)}
          onChange={(event) => change(withStep(steps, step.key, { worker: Number(event.currentTarget.value) }))}
        >
          {pool.map(({ id: name, simulated }, ordinal) => (
            <option key={name} value={String(ordinal)}>{simulated ? l10n.t('{0} (simulated)', name) : name}</option>
          ))}
        </select>
        <span class="figures">{estimate && (estimate.usd ? costWords(estimate) : tokenWords(estimate))}</span>
        <span class="step-tools">
          {steps.length < MOST_STEPS && <ToolButton icon="add" label={l10n.t('Insert a step before step {0}', number)} onClick={() => add(index)} />}
          {steps.length > 1 && <ToolButton icon="trash" label={l10n.t('Remove step {0}', number)} onClick={() => remove(index)} />}
        </span>
      </div>
      <textarea
        class="instruction" dir="auto" rows={2} maxLength={MOST_CHARACTERS} value={step.subtask} aria-label={l10n.t('Instruction of step {0}', number)}
        placeholder={l10n.t('What this step is to do')}
        onInput={(event) => change(withStep(steps, step.key, { subtask: event.currentTarget.value }))}
      />
      {(index > 0 || round > 0) && (
        <fieldset class="reads" aria-labelledby={`${id}-reads`}>
          <legend id={`${id}-reads`} class="quiet">{l10n.t('May read')}</legend>
          {steps.slice(0, index).map((earlier, position) => (
            <Check
              key={earlier.key} checked={positionsRead(steps, index).includes(position)}
              onChange={(isRead) => change(withRead(steps, index, position, isRead))}
            >
              {l10n.t('step {0}, {1}', position + 1, workerName({ pool }, earlier.worker))}
            </Check>
          ))}
          {round > 0 && (
            <Check
              checked={step.readsAll}
              onChange={(all) => change(withStep(steps, step.key, all ? { readsAll: true, reads: [] } : { readsAll: false, reads: steps.slice(0, index).map(({ key }) => key) }))}
            >
              {index === 0 ? l10n.t('round {0}', round) : l10n.t('round {0}, with all steps above', round)}
            </Check>
          )}
        </fieldset>
      )}
      {index === steps.length - 1
        ? <p class="note quiet">{l10n.t('The last step gives the answer.')}</p>
        : !isUsed(steps, index) && <p class="note"><Icon name="info" tone="caution" /> {l10n.t('No later step may read this one.')}</p>}
    </>
  );
}

function Check({ checked, onChange, children }: {
  readonly checked: boolean; readonly onChange: (checked: boolean) => void; readonly children: string;
}): JSX.Element {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} /> <span dir="auto">{children}</span>
    </label>
  );
}

/** What the plan is expected to cost, and where that comes from. */
function Expected({ estimate, problem }: { readonly estimate: WorkEstimate | undefined; readonly problem: string | undefined }): JSX.Element {
  if (problem !== undefined) return <p class="expected tone-bad" dir="auto">{problem}</p>;
  if (!estimate) return <p class="expected quiet">{l10n.t('Estimating…')}</p>;
  const words = estimate.usd ? costWords(estimate) : l10n.t('{0}, {1}', costWords(estimate), tokenWords(estimate));
  return (
    <div class="expected" role="status">
      <p>{fillSentence(l10n.t('Expected cost: {0}'), <strong>{words}</strong>)}</p>
      {estimateReasons(estimate).map((reason) => <p key={reason} class="quiet">{reason}</p>)}
    </div>
  );
}

/** Asks the Conductor for another plan, with what should be different. */
function Replan({ disabled, onAsk }: { readonly disabled: boolean; readonly onAsk: (wish: string) => void }): JSX.Element {
  const [wish, setWish] = useState('');
  const ask = (): void => {
    if (!disabled) onAsk(wish.trim());
  };
  return (
    <div class="replan">
      <input
        type="text" class="choice" dir="auto" value={wish} maxLength={4_000} disabled={disabled} aria-label={l10n.t('What another plan should do differently')}
        placeholder={l10n.t('What should be different?')} onInput={(event) => setWish(event.currentTarget.value)}
        onKeyDown={({ key }) => key === 'Enter' && ask()}
      />
      <Button disabled={disabled} onClick={ask}>{l10n.t('Ask for another plan')}</Button>
    </div>
  );
}
