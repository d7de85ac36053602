import type { ConversationService } from '../../converse/converser.ts';
import type { ConverseText } from '../../protocol/conversation.ts';
import type { ClientRequests } from '../../protocol/methods.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';

type ConverseMethods = Extract<keyof ClientRequests, `converse/${string}`>;

/** @param notifyText notifies the client that sent the request */
export function converseHandlers(
  conversations: ConversationService, notifyText: (text: ConverseText) => void,
): RequestHandlers<ClientRequests, ConverseMethods> {
  return {
    'converse/turn': (request, { signal }) => conversations.turn(request, {
      signal, onText: (text) => notifyText({ requestId: request.requestId, text }),
    }),
    'converse/count': (told) => ({ tokens: conversations.count(told) }),
  };
}
