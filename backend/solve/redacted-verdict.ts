import { redactText } from '../context/secrets.ts';
import type { Verdict } from '../protocol/verdict.ts';

/**
 * A verdict without lines that look like a secret. The code under test writes its failure messages: it may have read a key, and what is
 * journalled goes to the models of the next round. Ids stay, because tests are compared by them.
 */
export function redactedVerdict(verdict: Verdict): Verdict {
  const { tests, reason, notes } = verdict;
  return {
    ...verdict,
    reason: redactText(reason),
    notes: notes.map(redactText),
    tests: tests.map((test) => (test.message === undefined ? test : { ...test, message: redactText(test.message) })),
  };
}
