import { handsWords, type Hands } from '../hands/hands-words.ts';
import { roundsBefore, triedOf } from '../protocol/run-facts.ts';
import type { ContextView, RoundView, RunSnapshot } from '../protocol/run-snapshot.ts';
import { turnText } from '../protocol/turn-text.ts';
import { factsOf } from '../protocol/providers.ts';
import type { ConversationMessage, Message } from '../workers/model.ts';
import type { ReadableOutput } from '../workflow/execute-plan.ts';
import { stepsOf, type Step } from '../workflow/plan.ts';
import { workerMessages } from '../workflow/worker-messages.ts';
import { askedQuestion } from './asked-question.ts';
import { withWorker } from './assigned.ts';
import { toldEarlier } from './follow-up/told-earlier.ts';
import { toldInstructions } from './told-instructions.ts';
import { isShownPictures, toldPictures } from './told-pictures.ts';
import { NEED_WORDS } from './needs.ts';
import { asksForTests, feedbackOf, wantedOf } from './round.ts';
import { contextOf } from './shown-files.ts';
import { conversation } from './step-work.ts';

/**
 * The messages for a step's worker. They follow from the run alone, so that they can be shown later.
 * @param inputs the outputs that the step reads
 * @param context the one that the step is sent
 */
export function stepPrompt(
  run: RunSnapshot, round: number, step: Step, inputs: readonly ReadableOutput[], context: ContextView | undefined,
): Message[] {
  const { request, kind } = run;
  const seesPictures = isShownPictures(run.pool[step.worker]);
  const hands = handsOf(run, step.worker);
  const tried = triedOf(run.rounds[round] ?? { steps: [] }, step.reads);
  const begun = run.rounds[round]?.steps[step.index]?.begun?.text;
  return workerMessages({
    question: askedQuestion(request),
    pictures: toldPictures(run, run.pool[step.worker]),
    earlier: toldEarlier(run, { seesPictures }),
    context: context?.text || toldInstructions(run),
    editsFiles: request.workspace !== undefined,
    wantsTests: asksForTests(run),
    // The context of a training's task is fixed.
    howToAsk: request.workspace !== undefined && kind === 'solve' && !hands ? NEED_WORDS : undefined,
    hands: hands && { how: handsWords(hands), begins: begun },
    failing: context?.failing,
    inputs: inputs.map((input) => ({ ...input, tests: tried.get(input.step.index)?.text })),
    previousRound: step.readsPreviousRound ? outcomeOf(run, roundsBefore(run, round).at(-1)) : undefined,
    subtask: step.subtask,
  });
}

/** How a worker uses its hands in this run; undefined if it has none here. Without a project there is no copy to work in. */
export function handsOf(run: Pick<RunSnapshot, 'request' | 'pool'>, worker: number): Hands | undefined {
  const config = run.request.workspace === undefined ? undefined : run.pool[worker];
  return config && (factsOf(config.provider).reach === 'agent' ? 'own' : config.hands);
}

/** Whether a worker takes several turns in this run, and so reads what it is told while it works. An agent takes one. */
export function readsMeanwhile(run: RunSnapshot, worker: number): boolean {
  const hands = handsOf(run, worker);
  return hands !== undefined && hands !== 'own';
}

/** The prompt of a step, with the turns that it took so far; undefined if there is no such step or an output that it reads is missing. */
export function promptOf(run: RunSnapshot, round: number, index: number): Message[] | undefined {
  const { plan, steps = [] } = run.rounds[round] ?? {};
  const planned = plan ? stepsOf(plan).map((one) => withWorker(one, { steps })) : [];
  const step = planned[index];
  if (!step) return undefined;
  const inputs = step.reads.flatMap((read): ReadableOutput[] => {
    const [of, output] = [planned[read], steps[read]?.output];
    return of && output !== undefined ? [{ step: of, output }] : [];
  });
  if (inputs.length < step.reads.length) return undefined;
  const { attempt, turns = [] } = steps[index] ?? {};
  return asText(conversation(
    stepPrompt(run, round, step, inputs, contextOf(run, round, attempt)),
    turns.flatMap(({ observation, ...turn }) => (observation === undefined ? [] : [{ ...turn, observation }])),
  ));
}

/** To read: with tool calls and their results as text. */
function asText(messages: readonly ConversationMessage[]): Message[] {
  return messages.map((message) => {
    if (message.role === 'tool') return { role: 'user', content: message.content };
    return { role: message.role, content: turnText(message.content, message.toolCalls) };
  });
}

function outcomeOf(run: RunSnapshot, round: RoundView | undefined): { outputs: ReadableOutput[]; feedback: string } | undefined {
  if (!round?.plan) return undefined;
  const outputs = stepsOf(round.plan).map((step) => withWorker(step, round)).flatMap((step) => {
    const output = round.steps[step.index]?.output;
    return output === undefined ? [] : [{ step, output }];
  });
  return { outputs, feedback: feedbackOf(round, wantedOf(run)) };
}
