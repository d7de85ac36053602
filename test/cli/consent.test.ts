import { describe, expect, it } from 'vitest';
import { Consent } from '../../backend/cli/consent.ts';
import type { Terminal } from '../../backend/cli/terminal.ts';
import { RequestError } from '../../backend/protocol/request-error.ts';

const plain = (_format: unknown, text: string): string => text;
const terminal = (ask?: Terminal['ask']): Terminal => ({ result: () => {}, write: () => {}, say: () => {}, style: plain, resultStyle: plain, ask });
const { signal } = new AbortController();

function consentFor(runId: string | undefined, { ask, ...given }: { yes?: boolean; json?: boolean; ask?: Terminal['ask'] }): Consent {
  const consent = new Consent(terminal(ask), given);
  consent.runId = runId;
  return consent;
}
const question = { title: 'Run the tests?', detail: 'node --test', runId: 'mine' };

describe('what the user of a command line consents to', () => {
  it.each([
    ['--yes', { yes: true }, true],
    ['--json without --yes', { json: true }, false],
    ['both', { yes: true, json: true }, true],
    ['nothing, where nobody sits at the terminal', {}, false],
    ['a person who says yes', { ask: async () => true }, true],
    ['a person who says no', { ask: async () => false }, false],
  ])('%s', async (_name, given, expected) => {
    expect(await consentFor('mine', given).confirm(question, signal)).toBe(expected);
  });

  it.each([
    ['another run', { ...question, runId: 'other' }, 'mine'],
    ['a run without a name', { ...question, runId: undefined }, 'mine'],
    ['any run before the own one has begun', { ...question, runId: undefined }, undefined],
  ])('leaves a question about %s to other clients, even with --yes', async (_name, asked, own) => {
    await expect(consentFor(own, { yes: true }).confirm(asked, signal)).rejects.toThrow(RequestError);
  });
});
