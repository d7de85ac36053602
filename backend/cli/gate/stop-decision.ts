import { changeKind, isRed } from '../../protocol/test-changes.ts';
import type { VerifyResult } from '../judge-change.ts';
import { verdictText } from '../../protocol/tool-texts.ts';
import type { StopForm } from './stop-input.ts';

/** Whether an agent may stop. `tell` is for the person, `reason` is what the agent reads. */
export type StopDecision = { readonly block: false; readonly tell?: string } | { readonly block: true; readonly reason: string };

const IS_LEFT_OUT = / was left as it is: /;

/** How a change that is not accepted is spoken of. */
export interface GateWords {
  /** What was judged, and what is wrong with it. */
  readonly what: string;
  readonly mend: string;
  /** Said where edits of tests were left out. */
  readonly leftOut: string;
  /** What else can be done. */
  readonly otherwise?: string;
}

export const LEFT_OUT = 'The committed tests judge, and edits of tests were left out.';
const AGENT_WORDS: GateWords = {
  what: 'the uncommitted change, and it is not done yet',
  mend: 'Mend this before you stop.',
  leftOut: `${LEFT_OUT} If the tests themselves have to change, say so to the person and stop again.`,
  otherwise: 'If this has nothing to do with your task, say so and stop again.',
};

/**
 * What a verdict means for an agent that is about to stop. Red tests keep it from stopping. Where the tests give no result, or judge
 * nothing, nobody is kept. @param isContinued the agent was kept from stopping before
 */
export function decideStop(result: VerifyResult, { isContinued, words = AGENT_WORDS }: { readonly isContinued: boolean; readonly words?: GateWords }): StopDecision {
  const { outcome, reason, tests, notes } = result;
  if (outcome === 'verified' || outcome === 'passes') return { block: false, tell: `Conductor: ${outcome}. ${reason}` };
  if (outcome !== 'failed') return { block: false, tell: `Conductor has not judged this change: ${reason}` };
  const red = tests.filter(isRed);
  // A test that was red before may be no business of the agent: it is told once.
  if (isContinued && red.length > 0 && red.every((test) => changeKind(test) === 'still-failing')) return { block: false, tell: `Conductor: ${reason}` };
  return {
    block: true,
    reason: [
      `The project's own tests judged ${words.what}.`,
      verdictText(result),
      words.mend,
      ...(notes.some((note) => IS_LEFT_OUT.test(note)) ? [words.leftOut] : []),
      ...(words.otherwise === undefined ? [] : [words.otherwise]),
    ].join('\n\n'),
  };
}

/** The JSON object that an agent reads. */
export function stopAnswer(decision: StopDecision, form: StopForm): object {
  if (!decision.block) return decision.tell === undefined || form === 'cursor' ? {} : { systemMessage: decision.tell };
  const { reason } = decision;
  switch (form) {
    case 'decision':
      return { decision: 'block', reason };
    case 'vscode':
      return { hookSpecificOutput: { hookEventName: 'Stop', decision: 'block', reason } };
    case 'cursor':
      return { followup_message: reason };
  }
}
