import { expect, it } from 'vitest';
import { SECRET_MARKER } from '../../backend/context/secrets.ts';
import { verdictSchema } from '../../backend/protocol/verdict.ts';
import { redactedVerdict } from '../../backend/solve/redacted-verdict.ts';

it('keeps no line of a failure message, a reason or a note that looks like a secret, and everything else', () => {
  const secret = `API_TOKEN=${'k3Jd8Lq2'}${'Xv7Rt5Wp1Zm9'}`;
  const verdict = verdictSchema.parse({
    verified: false, score: 0, outcome: 'failed', reason: `It said:\n${secret}`, command: 'npm test', sandboxed: true, durationMs: 1,
    tests: [{ id: 'a > b', before: 'failed', after: 'failed', message: `Error: read\n${secret}\n  at a.js:1` }, { id: 'c', before: 'passed', after: 'passed' }],
    notes: [secret, 'One test is flaky.'],
  });
  const redacted = redactedVerdict(verdict);
  expect(JSON.stringify(redacted)).not.toContain(secret);
  expect(redacted).toEqual({
    ...verdict,
    reason: `It said:\n${SECRET_MARKER}`,
    tests: [{ ...verdict.tests[0], message: `Error: read\n${SECRET_MARKER}\n  at a.js:1` }, verdict.tests[1]],
    notes: [SECRET_MARKER, 'One test is flaky.'],
  });
});
