import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { WorkerRequest } from './call-worker.ts';
import { pictureTokens } from './limits/picture-tokens.ts';
import type { ModelReply } from './model.ts';

/*
 * The small question that shows whether a model sees pictures. Servers that take none refuse the request, or leave the picture out in silence:
 * so the model is asked what it sees.
 */

/** 256 x 256 pixels: yellow on the left, blue on the right. */
export const TWO_COLOURS = 'iVBORw0KGgoAAAANSUhEUgAAAQAAAAEAAQMAAABmvDolAAAABlBMVEX/3QAAM8xWf0JAAAAANElEQVR42u3KoQEAAAwCIP9/euteYIBMUq5EEARBEARBEARBEARBEARBEARBEARBEARhOzwC+PDi/TQn3QAAAABJRU5ErkJggg==';

/** Asks for the colours of a picture. */
export function askForColours(worker: WorkerConfig): Pick<WorkerRequest, 'messages'> {
  return {
    messages: [{
      role: 'user',
      content: 'Which two colours has the picture? Reply with two words: the colour on the left, then the colour on the right. If you see no picture, reply with the single word: none',
      pictures: [{ type: 'image/png', data: TWO_COLOURS, tokens: pictureTokens(worker, { width: 256, height: 256 }) }],
    }],
  };
}

/** Whether the model named the colours, in their order. */
export function seesColours({ text }: Pick<ModelReply, 'text'>): boolean {
  return /\byellow\b[^]*\bblue\b/i.test(text);
}
