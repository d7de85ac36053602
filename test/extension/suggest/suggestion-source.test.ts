import { describe, expect, it } from 'vitest';
import { SuggestionSource, type Place } from '../../../extension/suggest/suggestion-source.ts';
import { connectionOver, FakeBackend } from '../fake-backend.ts';
import { gapAt } from './gap-at.ts';

const placeAt = (text: string): Place => ({
  ...gapAt(text), workspace: '/project', path: '/project/a.ts', language: 'typescript', trusted: true, worker: undefined, maxUsdPerDay: 1,
  line: 0, project: true,
});
const around = () => ({ openFiles: ['/project/b.ts'], edits: [] });
const still = new AbortController().signal;

describe('a suggestion from the backend', () => {
  it('is asked for with the place and the settings, and tells who wrote it', async () => {
    const backend = new FakeBackend().answer('suggest/complete', () => ({ text: 'one();', spentTodayUsd: 0.1, unpricedTokensToday: 0 }));
    const results: unknown[] = [];
    const source = new SuggestionSource({ connection: connectionOver([backend]).connection, around, onResult: (result) => results.push(result) });
    expect(await source.ask({ ...placeAt('const a = |'), worker: 'ada' }, () => {}, still)).toBe('one();');
    expect(backend.callsOf('suggest/complete')).toMatchObject([{ before: 'const a = ', after: '', language: 'typescript', worker: 'ada' }]);
    expect(results).toEqual([{ text: 'one();', spentTodayUsd: 0.1, unpricedTokensToday: 0 }]);
  });

  it('is taken as soon as it is complete, before the worker is done, and tells who wrote it all the same', async () => {
    const backend = new FakeBackend();
    const texts: string[] = [];
    const asked = Promise.withResolvers<string>();
    backend.answer('suggest/complete', (params) => {
      asked.resolve((params as { requestId: string }).requestId);
      return new Promise(() => {});
    });
    const { connection } = connectionOver([backend]);
    // Of the real connection a request ends with its signal; this one's answers never do.
    const request: typeof connection.request = (method, params, signal) => Promise.race([
      connection.request(method, params),
      new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))),
    ]);
    const results: unknown[] = [];
    const source = new SuggestionSource({
      connection: { request, on: connection.on.bind(connection) }, around, onResult: (result) => results.push(result),
    });
    const suggested = source.ask(placeAt('const a = |'), (text) => texts.push(text), still);
    const requestId = await asked.promise;
    const told = { worker: { id: 'ada', model: 'a', simulated: false }, spentTodayUsd: 0.1, unpricedTokensToday: 0 };
    backend.emit('suggest/text', { requestId: 'another', text: 'not mine\n', ...told });
    backend.emit('suggest/text', { requestId, text: 'one();', ...told });
    backend.emit('suggest/text', { requestId, text: 'one();\nconst b = ', ...told });
    expect(await suggested).toBe('one();\nconst b = ');
    expect(texts).toEqual(['one();', 'one();\nconst b = ']);
    expect(results).toEqual([{ text: 'one();\nconst b = ', ...told }]);
  });

  it('fails with the sentence of the backend', async () => {
    const backend = new FakeBackend().answer('suggest/complete', () => Promise.reject(new Error('There is no worker yet.')));
    const source = new SuggestionSource({ connection: connectionOver([backend]).connection, around, onResult: () => {} });
    await expect(source.ask(placeAt('const a = |'), () => {}, still)).rejects.toThrow('There is no worker yet.');
  });
});
