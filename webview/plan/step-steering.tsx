import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { StepView } from '../../backend/protocol/run-snapshot.ts';
import { MAX_STEP_WORDS } from '../../backend/protocol/step-words.ts';
import { Button, TextArea, ToolButton } from '../controls.tsx';
import { useHost } from '../host.ts';
import { Capped } from '../markdown/capped.tsx';
import { workerName, type StepPhase } from '../run-stage.ts';
import { RunContext } from './step-details.tsx';

interface StepProps {
  readonly step: StepView;
  /** Position of the step's round in the run. */
  readonly round: number;
  readonly phase: StepPhase;
}

/** What a person can do with a step that is at work: stop it, and tell its worker something if it has hands. */
export function StepSteering({ step, round, phase }: StepProps): JSX.Element | null {
  const host = useHost();
  const run = useContext(RunContext);
  const [telling, setTelling] = useState(false);
  const toggle = useRef<HTMLDivElement>(null);
  if (!run || (phase !== 'running' && phase !== 'retrying') || step.stopped) return null;
  const number = step.index + 1;
  const place = { runId: run.runId, round, step: step.index };
  const isAtItsEnd = step.turns?.at(-1)?.isLast === true;
  const canBeTold = run.pool[step.worker]?.hands !== undefined && run.request.workspace !== undefined && !isAtItsEnd;
  const close = (): void => {
    setTelling(false);
    // The field disappears with the focus in it.
    toggle.current?.querySelector<HTMLElement>('[aria-expanded]')?.focus();
  };
  return (
    <div class="steering" ref={toggle}>
      <div class="tools">
        <ToolButton
          icon="debug-stop" text={l10n.t('Stop')} label={l10n.t('Stop step {0} and go on with what it has', number)}
          onClick={() => host.post({ type: 'stopStep', ...place })}
        />
        {canBeTold && (
          <ToolButton
            icon="comment" text={l10n.t('Tell it something')} label={l10n.t('Tell it something: step {0} reads it at its next turn', number)} expanded={telling}
            onClick={() => setTelling(!telling)}
          />
        )}
      </div>
      {canBeTold && telling && (
        <Telling
          worker={workerName(run, step.worker)} onClose={close}
          onTell={(text) => {
            host.post({ type: 'tellStep', ...place, text });
            close();
          }}
        />
      )}
    </div>
  );
}

/** Enter sends, as in a conversation; Shift and Enter begin a new line; Escape closes. */
function Telling({ worker, onTell, onClose }: {
  readonly worker: string; readonly onTell: (text: string) => void; readonly onClose: () => void;
}): JSX.Element {
  const [text, setText] = useState('');
  const field = useRef<HTMLDivElement>(null);
  useEffect(() => field.current?.querySelector<HTMLElement>('vscode-text-area')?.focus(), []);
  const words = text.trim();
  const isTooLong = words.length > MAX_STEP_WORDS;
  const tell = (): void => {
    if (words !== '' && !isTooLong) onTell(words);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onClose();
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    tell();
  };
  return (
    <div class="telling" ref={field}>
      <TextArea
        label={l10n.t('Tell {0}', worker)} value={text} rows={2} onInput={setText} onKeyDown={onKeyDown}
        placeholder={l10n.t('Keep the old name as an alias. Enter sends it.')}
      />
      {isTooLong && <p class="note tone-caution">{l10n.t('At most {0} characters.', MAX_STEP_WORDS)}</p>}
      <div class="actions">
        <Button appearance="primary" disabled={words === '' || isTooLong} onClick={tell}>{l10n.t('Send')}</Button>
        <Button onClick={onClose}>{l10n.t('Discard')}</Button>
      </div>
    </div>
  );
}

/** What a person has said that the worker has not read: it will, or its step was over before. */
export function Unread({ step, phase }: Omit<StepProps, 'round'>): JSX.Element | null {
  const { told = [] } = step;
  if (told.length === 0) return null;
  const isAtWork = phase === 'running' || phase === 'retrying' || phase === 'pending';
  return (
    <div class="unread">
      {told.map((text, index) => <Told key={index} text={text} />)}
      <p class="note quiet">{isAtWork ? l10n.t('It reads this at its next turn.') : l10n.t('It ended before it read this.')}</p>
    </div>
  );
}

/** Words of the person to the worker. */
export function Told({ text }: { readonly text: string }): JSX.Element {
  return <blockquote class="told" dir="auto" aria-label={l10n.t('What you told it')}><Capped text={text} /></blockquote>;
}
