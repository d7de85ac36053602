import { counted } from '../common/counted.ts';
import { onlyFailedBefore } from '../protocol/failed-before.ts';
import { answerOf } from '../protocol/run-facts.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import { mendedHint } from './verify-hint.ts';

/** What a person may do where the answer of a run fails only for tests that failed before. Whether they must pass, only a person can tell. */
export function failedBeforeHint(run: RunSnapshot): string | undefined {
  const { request } = run;
  const verdict = answerOf(run)?.round.verdict;
  if (!verdict || request.tests || request.failedBefore) return undefined;
  const count = onlyFailedBefore(verdict).length;
  if (count === 0) return undefined;
  const they = count === 1 ? 'it has' : 'they have';
  const mended = mendedHint(verdict.tests);
  return `The answer breaks nothing and fails only for ${counted(count, 'test')} that failed before. If ${they} nothing to do with the question, `
    + `ask with: --failed-before leave-out${mended === undefined ? '' : `, or name what must pass: ${mended}`}`;
}
