import { expect, it } from 'vitest';
import { providerWords, withoutProviderWords } from '../../backend/protocol/provider-words.ts';

const without = (said: string): string => withoutProviderWords(`The account has no credit left${providerWords(said)}; top it up.`, /try again/, ' (left out)');

it.each([
  'Error 500: try again later',
  'The key "main" is spent: try again later',
  'The keys ("main"). Others ("spare"), too: try again later',
  '{"error": {"message": "try again later (see \\"limits\\")"}}',
])('leaves out all that a provider said where some of it matches: %s', (said) => {
  expect(without(said)).toBe('The account has no credit left (left out); top it up.');
});

it('keeps what does not match, with its quotes as single ones', () => {
  expect(without('The keys ("main"). See example.org')).toBe('The account has no credit left (it said: "The keys (\'main\'). See example.org"); top it up.');
});
