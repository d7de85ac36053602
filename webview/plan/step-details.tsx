import * as l10n from '@vscode/l10n';
import { createContext, type ComponentChildren, type JSX } from 'preact';
import { useContext } from 'preact/hooks';
import { formatDuration, formatMoney, formatTokens } from '../../backend/protocol/figures.ts';
import { isOver, type RunSnapshot, type StepView } from '../../backend/protocol/run-snapshot.ts';
import { totalTokens } from '../../backend/protocol/token-counts.ts';
import { Icon, ToolButton } from '../controls.tsx';
import { Disclosure } from '../disclosure.tsx';
import { useHost, useReply } from '../host.ts';
import { formatCount } from '../language.ts';
import { Capped } from '../markdown/capped.tsx';
import { workerName } from '../run-stage.ts';

/** The run on show, for details that only an opened step needs. */
export const RunContext = createContext<RunSnapshot | undefined>(undefined);

interface StepProps {
  readonly step: StepView;
  /** Position of the step's round in the run. */
  readonly round: number;
}

/** The inputs and the cost of an opened step. */
export function StepFacts({ step, round }: StepProps): JSX.Element {
  // The tokens are not known while it runs.
  const isCounted = step.output !== undefined || totalTokens(step.spent.usage) > 0;
  return (
    <div class="details">
      <Saw step={step} round={round} />
      {isCounted && <Bill step={step} />}
      <ChangeOf step={step} round={round} />
      <Retry step={step} round={round} />
    </div>
  );
}

/** The exact prompt of the step's worker, in a disclosure. */
export function StepPrompt({ step, round, id }: StepProps & { readonly id: string }): JSX.Element | null {
  if (!step.attempt && step.output === undefined) return null;
  return (
    <div class="details">
      <Disclosure id={`${id}/step-${step.index}/prompt`} title={l10n.t('The exact prompt')}>
        <Prompt round={round} step={step.index} />
      </Disclosure>
    </div>
  );
}

/** The change in the step's copy, so far or as it handed it on, opens as a diff against the workspace. */
function ChangeOf({ step, round }: StepProps): JSX.Element | null {
  const host = useHost();
  const run = useContext(RunContext);
  const changed = step.changes ?? [...(step.begun?.changes ?? []), ...(step.turns ?? []).flatMap((turn) => turn.changes ?? [])];
  if (!run || changed.length === 0) return null;
  return (
    <p>
      <ToolButton
        icon="diff-multiple" text={l10n.t('Open its change')} label={l10n.t('Open its change: the copy of step {0} against the workspace', step.index + 1)}
        onClick={() => host.post({ type: 'showStepChange', runId: run.runId, round, step: step.index })}
      />
    </p>
  );
}

/** After the run, a step that failed or is not good enough can be repeated. */
function Retry({ step, round }: StepProps): JSX.Element | null {
  const host = useHost();
  const run = useContext(RunContext);
  if (!run || !isOver(run.state) || (step.output === undefined && !step.failure)) return null;
  return (
    <p>
      <ToolButton
        icon="refresh" text={l10n.t('Retry this step')} label={l10n.t('Retry this step in a new run, with the steps that read it')}
        onClick={() => host.post({ type: 'retryStep', runId: run.runId, round, step: step.index })}
      />
    </p>
  );
}

/** The inputs of the step: other steps' answers, and pieces of the project. */
function Saw({ step, round }: StepProps): JSX.Element | null {
  const run = useContext(RunContext);
  if (!run) return null;
  const { pieces = [], tokens = 0 } = run.contexts[step.attempt?.context ?? run.contexts.length - 1] ?? {};
  const given = step.turns?.flatMap((turn) => turn.pieces ?? []) ?? [];
  const previous = step.readsPreviousRound && round > 0 ? run.rounds[round - 1] : undefined;
  const read = step.reads.flatMap((position) => run.rounds[round]?.steps[position] ?? []);
  return (
    <section>
      <h5 class="label">{l10n.t('What it saw')}</h5>
      <ul class="saw">
        <li>{l10n.t('The question')}</li>
        {pieces.length > 0 && (
          <li>
            {pieces.length === 1 ? l10n.t('1 piece of the project') : l10n.t('{0} pieces of the project', pieces.length)}
            <span class="figures">{l10n.t('{0} tokens', formatTokens(tokens))}</span>
          </li>
        )}
        {given.length > 0 && <li>{l10n.t('On request: {0}', given.map(({ path, startLine, endLine }) => `${path}:${startLine}–${endLine}`).join(', '))}</li>}
        {previous && <li>{l10n.t('Round {0}: every output, and what the tests said', previous.index + 1)}</li>}
        {read.map((earlier) => (
          <li key={earlier.index}>
            {l10n.t('The output of step {0}', earlier.index + 1)} <bdi class="quiet">{workerName(run, earlier.worker)}</bdi>
            {earlier.output !== undefined && earlier.keptFrom === undefined && (
              <span class="figures">{l10n.t('{0} tokens', formatTokens(earlier.spent.usage.output))}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The worker's prompt. Fetched only when opened: it contains the context and all inputs, so it is large. */
function Prompt({ round, step }: { readonly round: number; readonly step: number }): JSX.Element {
  const runId = useContext(RunContext)?.runId;
  const reply = useReply<'stepPrompt'>(runId === undefined ? undefined : { type: 'stepPrompt', runId, round, step });
  switch (reply.state) {
    case 'waiting':
      return <p class="quiet"><Icon name="loading" tone="busy" /> {l10n.t('Reading…')}</p>;
    case 'none':
      return <p class="note tone-bad" dir="auto">{reply.problem}</p>;
    case 'there':
      return (
        <pre tabIndex={0} role="group" aria-label={l10n.t('The exact prompt')} dir="auto">
          <Capped text={reply.value.map(({ content }) => content).join('\n\n')} />
        </pre>
      );
  }
}

/** The token counts as the provider reported them. */
function Bill({ step }: { readonly step: StepView }): JSX.Element {
  const { spent: { usage, ...spent }, attempt, durationMs, keptFrom } = step;
  const input = usage.uncachedInput + usage.cacheRead + usage.cacheWrite;
  const count = (tokens: number): string => `${usage.estimated ? '~' : ''}${formatCount(tokens)}`;
  if (keptFrom !== undefined) {
    return (
      <section>
        <h5 class="label">{l10n.t('Bill')}</h5>
        <p class="quiet">{l10n.t('Kept from an earlier run, which paid for it.')}</p>
      </section>
    );
  }
  const outOf = [
    ...(usage.cacheRead > 0 ? [l10n.t('{0} from the cache', count(usage.cacheRead))] : []),
    ...(usage.cacheWrite > 0 ? [l10n.t('{0} into the cache', count(usage.cacheWrite))] : []),
  ];
  return (
    <section>
      <h5 class="label">{l10n.t('Bill')}</h5>
      <dl class="bill">
        <Row name={l10n.t('Tokens in')}>{count(input)}{outOf.length > 0 && <span class="quiet"> · {outOf.join(' · ')}</span>}</Row>
        <Row name={l10n.t('Tokens out')}>
          {count(usage.output + usage.reasoning)}
          {usage.reasoning > 0 && <span class="quiet"> · {l10n.t('{0} of them reasoning', count(usage.reasoning))}</span>}
        </Row>
        <Row name={l10n.t('Cost')}>
          {formatMoney(spent)}
        </Row>
        {durationMs !== undefined && <Row name={l10n.t('Time')}>{formatDuration(durationMs)}</Row>}
        {attempt && <Row name={l10n.t('Attempts')}>{attempt.number}</Row>}
      </dl>
    </section>
  );
}

function Row({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return <div><dt>{name}</dt><dd>{children}</dd></div>;
}
