import { clip } from '../common/clip.ts';
import { redactText } from '../common/secrets/secrets.ts';
import type { BaseResult } from '../protocol/run-events.ts';
import type { TestChange, Verdict } from '../protocol/verdict.ts';

/*
 * What a verification says, as it leaves this room: without lines that look like a secret, and bounded. The code under test writes messages
 * and output. It may have read a key, and what is said goes to a journal, to models, to files and to other programs. Messages and ids are
 * already safe where they are read (`ResultCollector`), because parts of them stand in sentences.
 */

const MAX_REASON = 4_000;
const MAX_NOTE = 1_000;
const MAX_NOTES = 100;
/** Of all messages together, in characters. What fails after so many has the same cause, or is told by its name. */
const MAX_MESSAGES = 400_000;

export function toldVerdict(verdict: Verdict): Verdict {
  const { tests, reason, notes } = verdict;
  return { ...verdict, reason: told(reason, MAX_REASON), notes: notes.slice(0, MAX_NOTES).map((note) => told(note, MAX_NOTE)), tests: withinMessages(tests) };
}

export function toldBase(result: BaseResult): BaseResult {
  const { problem } = result;
  return { ...result, ...(problem !== undefined && { problem: told(problem, MAX_REASON) }) };
}

const told = (text: string, most: number): string => clip(redactText(text), most);

function withinMessages(tests: readonly TestChange[]): readonly TestChange[] {
  let left = MAX_MESSAGES;
  return tests.map((test) => {
    const { message, ...rest } = test;
    left -= message?.length ?? 0;
    return message !== undefined && left < 0 ? rest : test;
  });
}
