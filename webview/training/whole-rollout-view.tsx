import type { JSX } from 'preact';
import type { WholeRollout } from '../../backend/protocol/training.ts';
import { Disclosure } from '../disclosure.tsx';
import { visibleText } from '../markdown/visible-text.ts';
import { list } from '../run-stage.ts';

type Step = WholeRollout['steps'][number];

/** A sampled plan with every step in full, who reads whom, what the workers answered, and what was said of it. */
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
                <Disclosure id={`${runId}/${index}`} title={`Answer of step ${index + 1}`}>
                  <pre tabIndex={0} dir="auto">{visibleText(step.output)}</pre>
                </Disclosure>
              )}
            </li>
          ))}
        </ol>
      )}
      <Disclosure id={`${runId}/question`} title="Question"><pre tabIndex={0} dir="auto">{visibleText(question)}</pre></Disclosure>
      <Disclosure id={`${runId}/text`} title="As it was written" initially={steps.length === 0}>
        <pre tabIndex={0} dir="auto">{visibleText(text) || 'Nothing was written.'}</pre>
      </Disclosure>
    </>
  );
}

/** Where the step stands, and what it was shown. */
function stateOf({ state, reads, readsPreviousRound }: Step): string {
  const read = [...(readsPreviousRound ? ['the plan before'] : []), ...(reads.length > 0 ? [`step${reads.length > 1 ? 's' : ''} ${list(reads.map((index) => String(index + 1)))}`] : [])];
  const words = { pending: 'waits', running: 'is under way', completed: 'answered', failed: 'failed', skipped: 'was skipped' }[state];
  return read.length > 0 ? `${words}, reads ${list(read)}` : words;
}
