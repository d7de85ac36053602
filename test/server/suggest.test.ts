import { afterEach, expect, it } from 'vitest';
import { BudgetSpentError } from '../../backend/workers/errors.ts';
import type { SuggestRequest } from '../../backend/protocol/suggestions.ts';
import type { SuggestionService } from '../../backend/suggest/suggester.ts';
import { NO_SUGGESTIONS } from './support/no-suggestions.ts';
import { serve, type Serving } from './support/serving.ts';

/* Suggestions over a real socket; what they are is tested in test/suggest. */

const REQUEST = {
  requestId: 'r1', workspace: '/project', path: '/project/a.js', language: 'javascript', before: 'const a = ', after: '\n', multiline: false,
};

let serving: Serving | undefined;
afterEach(() => serving?.close());

async function open(complete: SuggestionService['complete']) {
  serving = await serve({ suggestions: { ...NO_SUGGESTIONS, complete } });
  return serving.open();
}

it('a suggestion streams to the client that asked, and to no other', async () => {
  const asked: SuggestRequest[] = [];
  const spentBefore = { spentTodayUsd: 0.4, unpricedTokensToday: 0 };
  const client = await open(async (request, { onText }) => {
    asked.push(request);
    onText({ text: 'on', ...spentBefore });
    onText({ text: 'one();', ...spentBefore });
    return { text: 'one();', spentTodayUsd: 0.5, unpricedTokensToday: 0 };
  });
  const other = await serving!.open();
  const texts: unknown[] = [];
  client.on('suggest/text', (text) => texts.push(text));
  other.on('suggest/text', () => texts.push('told to another client'));
  expect(await client.request('suggest/complete', REQUEST)).toEqual({ text: 'one();', spentTodayUsd: 0.5, unpricedTokensToday: 0 });
  await other.request('backend/health', {});
  expect(texts).toEqual([
    { requestId: 'r1', text: 'on', ...spentBefore }, { requestId: 'r1', text: 'one();', ...spentBefore },
  ]);
  expect(asked).toEqual([{ ...REQUEST, trusted: true, project: true, openFiles: [], edits: [], maxUsdPerDay: 1 }]);
});

it('a client that takes its question back is no longer worked for', async () => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const client = await open((_request, { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
      ended.resolve();
    });
    begun.resolve();
  }));
  const controller = new AbortController();
  const suggested = client.request('suggest/complete', REQUEST, controller.signal);
  await begun.promise;
  controller.abort(new Error('typed on'));
  await expect(suggested).rejects.toThrow('typed on');
  await ended.promise;
});

it('a budget that is spent is told as such', async () => {
  const client = await open(() => Promise.reject(new BudgetSpentError('day', 'The budget of the day is spent.')));
  await expect(client.request('suggest/complete', REQUEST)).rejects.toMatchObject({
    kind: 'budget-spent', message: 'The budget of the day is spent.',
  });
});

it('a document that is too long is refused before anybody looks at it', async () => {
  const client = await open(() => Promise.reject(new Error('it was looked at')));
  await expect(client.request('suggest/complete', { ...REQUEST, before: 'x'.repeat(40_000) })).rejects.toMatchObject({ kind: 'invalid-params' });
});
