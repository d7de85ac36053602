import type { ConversationService } from '../../../backend/converse/converser.ts';

/** A backend with which nobody speaks. */
export const NO_CONVERSATIONS: ConversationService = {
  turn: () => Promise.reject(new Error('not needed here')),
  count: () => 0,
};
