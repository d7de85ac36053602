import type { SuggestionService } from '../../../backend/suggest/suggester.ts';

/** A backend that suggests nothing. */
export const NO_SUGGESTIONS: SuggestionService = {
  complete: () => Promise.resolve({ text: '', spentTodayUsd: 0, unpricedTokensToday: 0 }),
  count: () => Promise.resolve(),
  forgetOutcomes: () => Promise.resolve(),
};
