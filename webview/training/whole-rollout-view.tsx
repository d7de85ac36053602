import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { WholeRollout } from '../../backend/protocol/training.ts';
import { Disclosure } from '../disclosure.tsx';
import { list } from '../language.ts';
import { visibleText } from '../markdown/visible-text.ts';

type Step = WholeRollout['steps'][number];

/** A sampled plan in full: its steps and reads, the workers' answers, and the verdict. */
export function WholeRolloutView({ whole: { runId, question, text, steps, message } }: { readonly whole: WholeRollout }): JSX.Element {
  return (
    <>
      {message && <p dir="auto">{visibleText(message)}</p>}
      {steps.length > 0 && (
        <ol class="whole-steps">
          {steps.map((step, index) => (
            <li key={index}>
              <p><span class="whole-number">{index + 1}</span> <bdi class="rollout-worker">{step.worker}</bdi> <span class="quiet">{stateOf(step)}</span></p>
              <p class="whole-subtask" dir="auto">{visibleText(step.subtask)}</p>
              {step.problem && <p class="quiet" dir="auto">{visibleText(step.problem)}</p>}
              {step.output !== undefined && (
                <Disclosure id={`${runId}/${index}`} title={l10n.t('Answer of step {0}', index + 1)}>
                  <pre tabIndex={0} dir="auto">{visibleText(step.output)}</pre>
                </Disclosure>
              )}
            </li>
          ))}
        </ol>
      )}
      <Disclosure id={`${runId}/question`} title={l10n.t('Question')}><pre tabIndex={0} dir="auto">{visibleText(question)}</pre></Disclosure>
      <Disclosure id={`${runId}/text`} title={l10n.t('As it was written')} initially={steps.length === 0}>
        <pre tabIndex={0} dir="auto">{visibleText(text) || l10n.t('Nothing was written.')}</pre>
      </Disclosure>
    </>
  );
}

/** The step's state, and what it read. */
function stateOf(step: Step): string {
  return [wordsOf(step), ...readsOf(step)].join(', ');
}

function wordsOf({ state }: Step): string {
  switch (state) {
    case 'pending': return l10n.t('waits');
    case 'running': return l10n.t('is under way');
    case 'completed': return l10n.t('answered');
    case 'failed': return l10n.t('failed');
    case 'skipped': return l10n.t('was skipped');
  }
}

function readsOf({ reads, readsPreviousRound }: Step): readonly string[] {
  const steps = list(reads.map((index) => index + 1));
  if (readsPreviousRound) {
    if (reads.length === 0) return [l10n.t('reads the plan before')];
    return [reads.length === 1 ? l10n.t('reads the plan before and step {0}', steps) : l10n.t('reads the plan before and steps {0}', steps)];
  }
  if (reads.length === 0) return [];
  return [reads.length === 1 ? l10n.t('reads step {0}', steps) : l10n.t('reads steps {0}', steps)];
}
