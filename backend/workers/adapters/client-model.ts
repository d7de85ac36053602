import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { AnswerText } from './answer-text.ts';
import { abortError, classifyError, type CallContext } from './classify-error.ts';
import { estimateUsage } from '../limits/estimate-tokens.ts';
import type { ModelAdapter, ModelReply, ModelRequest, StreamOptions } from '../model.ts';
import { withoutTools } from './no-tools.ts';

export interface ClientModelCall {
  readonly model: string;
  readonly messages: readonly { role: 'system' | 'user' | 'assistant'; content: string }[];
  readonly maxOutputTokens: number;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
}

export interface ClientModelReply {
  readonly text: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Calls a model that only a client can reach, such as VS Code's own. @throws WorkerError `not-found` if no connected client offers models.
 */
export type ClientModel = (call: ClientModelCall) => Promise<ClientModelReply>;

/**
 * A model of VS Code, called through a connected client. VS Code accepts no sampling parameters and reports neither usage nor the finish
 * reason, so the usage is an estimate.
 */
export class ClientModelAdapter implements ModelAdapter {
  readonly #worker: WorkerConfig;
  readonly #model: ClientModel;

  constructor(worker: WorkerConfig, model: ClientModel) {
    this.#worker = worker;
    this.#model = model;
  }

  async stream(request: ModelRequest, { signal, onText, onActivity }: StreamOptions): Promise<ModelReply> {
    const worker = this.#worker;
    const { maxOutputTokens } = request;
    const messages = withoutTools(worker, request);
    const context: CallContext = { worker, messages, signal };
    const answer = new AnswerText(worker, onText);
    const tooLarge = Promise.withResolvers<never>();
    let over = false;
    const take = (text: string) => {
      if (over || signal.aborted) return;
      onActivity();
      try {
        answer.append(text);
      } catch (error) {
        tooLarge.reject(error);
      }
    };
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(abortError(context));
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      const call = this.#model({
        model: worker.model,
        messages: messages.map(({ role, content }) => ({ role, content })),
        maxOutputTokens,
        signal,
        onText: take,
      });
      // The client may never answer, not even after an abort.
      const reply = await Promise.race([call, aborted.promise, tooLarge.promise]);
      over = true;
      const streamed = answer.toString();
      // The reply contains the whole text, even if the client streamed only a part of it.
      if (reply.text.startsWith(streamed)) answer.append(reply.text.slice(streamed.length));
      const text = answer.toString();
      const estimate = estimateUsage({ messages }, answer.bytes);
      return {
        text,
        finishReason: 'stop',
        usage: {
          ...estimate,
          uncachedInput: counted(reply.inputTokens) ?? estimate.uncachedInput,
          output: counted(reply.outputTokens) ?? estimate.output,
        },
        model: worker.model,
      };
    } catch (error) {
      throw classifyError(error, context);
    } finally {
      over = true;
      signal.removeEventListener('abort', abort);
    }
  }
}

function counted(tokens: number): number | undefined {
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined;
}
