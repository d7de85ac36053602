import type { PromptInput } from '../conductor/prompt-input.ts';
import { planRequest } from '../conductor/plan-request.ts';
import { profileOf } from '../conductor/prompt-profile.ts';
import { roundsBefore } from '../protocol/run-facts.ts';
import type { ContextView, RunSnapshot } from '../protocol/run-snapshot.ts';
import type { Message } from '../workers/model.ts';
import { askedQuestion, isInProject } from './asked-question.ts';
import { EARLIER_TOKENS } from './follow-up/clip-exchanges.ts';
import { toldEarlier } from './follow-up/told-earlier.ts';
import { pastRound, wantedOf } from './round.ts';
import { contextOf } from './shown-files.ts';
import { handsOf } from './step-prompt.ts';
import { toldInstructions } from './told-instructions.ts';
import { isShownPictures, toldPictures } from './told-pictures.ts';

/** Of more plans that a person did not want, the last ones say what is wanted. */
const MOST_DISCARDED = 3;
/** Of English and code, about; profiles count characters. */
const CHARACTERS_PER_TOKEN = 3.5;
/** Tokens of the conversation that are read for any Conductor. The smallest one has a digest of the question before. */
const LEAST_EARLIER = 400;

/** The input of a round's plan as the run stands, with the context that it is sent. After an invalid plan it holds the rejection, too. */
export function planInput(run: RunSnapshot, round: number, context: ContextView | undefined): PromptInput {
  const { request, pool, rounds, project, records = [], policy: { worker: planner } } = run;
  const { rejections = [], discarded = [] } = rounds[round] ?? {};
  const wants = wantedOf(run);
  const { answerCharacters } = profileOf(planner ?? { provider: 'openai' });
  const seesPictures = isShownPictures(planner);
  const earlier = toldEarlier(run, { tokens: Math.min(EARLIER_TOKENS, Math.max(LEAST_EARLIER, Math.floor(answerCharacters / CHARACTERS_PER_TOKEN))), seesPictures });
  const pictures = toldPictures(run, planner);
  return {
    question: askedQuestion(request),
    ...(pictures && { pictures }),
    ...(earlier && { earlier }),
    inProject: isInProject(run),
    context: context?.text || toldInstructions(run),
    shown: [...new Set(context?.pieces.map(({ path }) => path))],
    project,
    failing: context?.failing,
    pool: pool.map((worker, ordinal) => ({
      description: worker.description, ...(handsOf(run, ordinal) && { hasHands: true }), ...(pictures && isShownPictures(worker) && { seesPictures: true }),
      record: records.find((record) => record.worker === worker.id),
    })),
    rounds: roundsBefore(run, round).map((past) => pastRound(past, wants)),
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
