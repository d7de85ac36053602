import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { WholeSample } from '../../backend/protocol/evaluations.ts';
import { formatTokens, formatUsd } from '../../backend/protocol/figures.ts';
import { totalTokens } from '../../backend/protocol/token-counts.ts';
import { list } from '../language.ts';
import { visibleText } from '../markdown/visible-text.ts';

type Step = WholeSample['traces'][number][number];

/** One answer down to its plan, what each worker said, and what judged it said. */
export function WholeSampleView({ sample }: { readonly sample: WholeSample }): JSX.Element {
  const { question, reason, isPlan, traces, answer, change, costUsd, usage, seconds } = sample;
  const last = traces.at(-1)?.at(-1)?.output;
  return (
    <>
      <p class="quiet">{[formatUsd(costUsd), l10n.t('{0} tok', formatTokens(totalTokens(usage))), l10n.t('{0} s', seconds.toFixed(1))].join(' · ')}</p>
      <h3>{l10n.t('What judged it said')}</h3>
      <p dir="auto">{visibleText(reason)}{isPlan === false && ` ${l10n.t('Its text was not a valid plan.')}`}</p>
      {question !== undefined && <><h3>{l10n.t('Question')}</h3><Text text={question} /></>}
      {traces.map((steps, index) => (
        <div key={index}>
          <h3>{traces.length > 1 ? l10n.t('Plan {0} of {1}', index + 1, traces.length) : l10n.t('Plan')}</h3>
          <ol class="sample-steps">{steps.map((step, position) => <li key={position}><StepView step={step} number={position + 1} /></li>)}</ol>
        </div>
      ))}
      {answer !== last && answer !== '' && <><h3>{l10n.t('Answer')}</h3><Text text={answer} /></>}
      {change !== undefined && change !== '' && <><h3>{l10n.t('Change')}</h3><Text text={change} /></>}
    </>
  );
}

function StepView({ step: { worker, subtask, reads, output, served }, number }: { readonly step: Step; readonly number: number }): JSX.Element {
  return (
    <>
      <h4>{l10n.t('Step {0}:', number)} <bdi>{worker}</bdi> <span class="quiet">{[readsOf(reads), ...(served ? [l10n.t('asked before, paid once')] : [])].join('; ')}</span></h4>
      <p class="sample-subtask" dir="auto">{visibleText(subtask)}</p>
      <Text text={output} />
    </>
  );
}

const Text = ({ text }: { readonly text: string }): JSX.Element => <pre tabIndex={0} dir="auto">{visibleText(text)}</pre>;

function readsOf(reads: readonly number[]): string {
  if (reads.length === 0) return l10n.t('reads the question');
  return reads.length === 1
    ? l10n.t('reads the question and step {0}', list(reads.map((index) => index + 1)))
    : l10n.t('reads the question and steps {0}', list(reads.map((index) => index + 1)));
}
