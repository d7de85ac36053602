import { conductorPrompt, endpointMessages, type PromptInput } from '../conductor/conductor-prompt.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { Message } from '../workers/model.ts';
import { askedQuestion } from './asked-question.ts';
import { pastRound } from './round.ts';
import { profileOf } from './run-pool.ts';

/** What the Conductor is asked for a round's plan with, as the run stands: a text that was no plan makes it another question. */
export function planInput({ request, context, pool, rounds }: RunSnapshot, round: number): PromptInput {
  return {
    question: askedQuestion(request),
    context: context?.text ?? '',
    pool: pool.map(({ description }) => ({ description })),
    rounds: rounds.slice(0, round).map(pastRound),
    rejection: rounds[round]?.rejections.at(-1),
  };
}

/** The prompt of a round's plan, the last where there were several, or undefined where nobody was asked for one. */
export function planPromptOf(run: RunSnapshot, round: number): readonly Message[] | undefined {
  const { rounds, policy: { worker } } = run;
  const { planText, planAttempt } = rounds[round] ?? {};
  if (!worker || (planText ?? planAttempt) === undefined) return undefined;
  const [input, profile] = [planInput(run, round), profileOf(worker)];
  return worker.provider === 'local' ? conductorPrompt(input, profile).messages : endpointMessages(input, profile);
}
