import type { PromptInput } from '../conductor/prompt-input.ts';
import { planRequest } from '../conductor/plan-request.ts';
import type { ContextView, RunSnapshot } from '../protocol/run-snapshot.ts';
import type { Message } from '../workers/model.ts';
import { askedQuestion, isInProject } from './asked-question.ts';
import { pastRound, wantedOf } from './round.ts';
import { contextOf } from './shown-files.ts';

/** Of more plans that a person did not want, the last ones say what is wanted. */
const MOST_DISCARDED = 3;

/** The input of a round's plan as the run stands, with the context that it is sent. After an invalid plan it holds the rejection, too. */
export function planInput(run: RunSnapshot, round: number, context: ContextView | undefined): PromptInput {
  const { request, pool, rounds, project, records = [] } = run;
  const { rejections = [], discarded = [] } = rounds[round] ?? {};
  const wants = wantedOf(run);
  return {
    question: askedQuestion(request),
    inProject: isInProject(run),
    context: context?.text ?? '',
    shown: [...new Set(context?.pieces.map(({ path }) => path))],
    project,
    failing: context?.failing,
    pool: pool.map(({ id, description, hands, agent }) => ({ description, ...((hands ?? agent) && isInProject(run) && { hasHands: true }), record: records.find(({ worker }) => worker === id) })),
    rounds: rounds.slice(0, round).map((past) => pastRound(past, wants)),
    discarded: discarded.slice(-MOST_DISCARDED),
    // One that came before a plan which a person did not want says nothing of the next plan.
    rejection: rejections.slice(discarded.at(-1)?.rejections ?? 0).at(-1),
  };
}

/** The prompt of a round's plan, the last one where there were several; undefined before the Conductor was asked. */
export function planPromptOf(run: RunSnapshot, round: number): readonly Message[] | undefined {
  const { rounds, policy: { worker } } = run;
  const { planText, planAttempt } = rounds[round] ?? {};
  if (!worker || (planText ?? planAttempt) === undefined) return undefined;
  return planRequest(worker, planInput(run, round, contextOf(run, round, planAttempt))).messages;
}
