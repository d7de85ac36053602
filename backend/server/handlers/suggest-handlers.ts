import type { ClientRequests } from '../../protocol/methods.ts';
import type { SuggestText } from '../../protocol/suggestions.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import type { SuggestionService } from '../../suggest/suggester.ts';

type SuggestMethods = Extract<keyof ClientRequests, `suggest/${string}`>;

/** @param notifyText notifies the client that sent the request */
export function suggestHandlers(
  suggestions: SuggestionService, notifyText: (text: SuggestText) => void,
): RequestHandlers<ClientRequests, SuggestMethods> {
  return {
    'suggest/complete': (request, { signal }) => suggestions.complete(request, {
      signal, onText: (soFar) => notifyText({ ...soFar, requestId: request.requestId }),
    }),
    'suggest/outcome': async (outcome) => {
      await suggestions.count(outcome);
      return {};
    },
    'suggest/forget': async () => {
      await suggestions.forgetOutcomes();
      return {};
    },
  };
}
