import { changeKind, isRed } from '../../protocol/test-changes.ts';
import type { VerifyResult } from '../judge-change.ts';
import { verdictText } from '../../protocol/tool-texts.ts';
import type { StopForm } from './stop-input.ts';

/** Whether an agent may stop. `tell` is for the person, `reason` is what the agent reads. */
export type StopDecision = { readonly block: false; readonly tell?: string } | { readonly block: true; readonly reason: string };

const LEFT_OUT = / was left as it is: /;

/** What the judged change is, and what is to be done about it. */
export interface GateWords {
  readonly what: string;
  readonly then: readonly string[];
}

const AGENT_WORDS: GateWords = { what: 'the uncommitted change, and it is not done yet', then: ['Mend this before you stop.', 'If this has nothing to do with your task, say so and stop again.'] };

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
      ...words.then.slice(0, 1),
      ...(notes.some((note) => LEFT_OUT.test(note))
        ? ['The committed tests judge, and edits of tests were left out.'.concat(words === AGENT_WORDS ? ' If the tests themselves have to change, say so to the person and stop again.' : '')]
        : []),
      ...words.then.slice(1),
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
