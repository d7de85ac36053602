import * as z from 'zod';
import type { Usage } from '../../protocol/usage.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { AnswerText } from './answer-text.ts';
import { classifyError, workerError, type CallContext } from './classify-error.ts';
import { estimateUsage } from '../limits/estimate-tokens.ts';
import { fillInCall, refusesForm, type FillInForm, type FillInForms } from './fill-in-forms.ts';
import type { FillIn, FinishReason, ModelAdapter, ModelReply, ModelRequest, StreamOptions } from '../model.ts';
import { openAiClient } from './openai-client.ts';
import { chatUsage } from './reported-usage.ts';

export interface FillInAdapterOptions {
  readonly worker: WorkerConfig;
  readonly key: string | undefined;
  readonly forms: FillInForms;
  /** Handles requests without a gap, and gaps if the server cannot fill them. */
  readonly chat: ModelAdapter;
}

type GapRequest = ModelRequest & { readonly fillIn: FillIn };

/** Sends gaps to a compatible server in a form that it accepts. Passes all other requests to `chat`. */
export class FillInAdapter implements ModelAdapter {
  readonly #options: FillInAdapterOptions;

  constructor(options: FillInAdapterOptions) {
    this.#options = options;
  }

  async stream(request: ModelRequest, options: StreamOptions): Promise<ModelReply> {
    const { worker, key, forms, chat } = this.#options;
    const { fillIn, messages } = request;
    if (!fillIn) return chat.stream(request, options);
    const context: CallContext = { worker, key, messages, signal: options.signal };
    let known: readonly FillInForm[];
    try {
      known = await forms.of(worker, key, options.signal);
    } catch (error) {
      throw classifyError(error, context);
    }
    for (const form of known) {
      const reply = form === 'chat' ? await chat.stream(request, options) : await this.#fill(form, { ...request, fillIn }, options);
      if (!reply) continue;
      // A refused form is discarded only after another form has worked: the model may be missing instead.
      forms.understood(worker, known, form);
      return reply;
    }
    // Not reached: `chat` is the last form and always returns a reply.
    return chat.stream(request, options);
  }

  /** @returns undefined if the server does not accept the form; a refused request costs nothing */
  async #fill(
    form: Exclude<FillInForm, 'chat'>, request: GapRequest, { signal, onText, onActivity }: StreamOptions,
  ): Promise<ModelReply | undefined> {
    const { worker, key } = this.#options;
    const { messages } = request;
    const answer = new AnswerText(worker, onText);
    let usage: Usage | undefined;
    let finishReason: FinishReason | undefined;
    let model = worker.model;
    try {
      const client = openAiClient(worker, key, onActivity);
      const { url, body } = fillInCall(form, worker, request);
      let stream: AsyncIterable<unknown>;
      try {
        stream = (await client.post<unknown>(url, { body, stream: true, signal })) as AsyncIterable<unknown>;
      } catch (error) {
        if (refusesForm(error)) return undefined;
        throw error;
      }
      for await (const event of stream) {
        const chunk = chunkSchema.parse(event);
        if (chunk.model) model = chunk.model;
        usage = usageIn(chunk) ?? usage;
        const choice = chunk.choices[0];
        answer.append(choice?.text ?? choice?.delta.content ?? chunk.content);
        finishReason = finishIn(chunk) ?? finishReason;
      }
      // An aborted or interrupted stream ends this loop without an error, like a complete one.
      if (finishReason === undefined) throw workerError('incomplete', { worker }, { usage });
    } catch (error) {
      throw classifyError(error, { worker, key, messages, signal, usage });
    }
    return { text: answer.toString(), finishReason, usage: usage ?? estimateUsage(request, answer.bytes), model };
  }
}

/** A chunk of any form: Completions have `text`, Mistral `delta.content`, llama.cpp `content`. */
const chunkSchema = z.object({
  model: z.string().nullish().catch(undefined),
  choices: z.array(z.object({
    text: z.string().nullish().catch(undefined),
    delta: z.object({ content: z.string().nullish().catch(undefined) }).catch({ content: undefined }),
    finish_reason: z.string().nullish().catch(undefined),
  })).catch([]),
  usage: z.unknown().optional(),
  content: z.string().nullish().catch(undefined),
  stop: z.boolean().nullish().catch(undefined),
  stop_type: z.string().nullish().catch(undefined),
  tokens_evaluated: z.number().nullish().catch(undefined),
  tokens_predicted: z.number().nullish().catch(undefined),
});
type Chunk = z.infer<typeof chunkSchema>;

function usageIn({ usage, tokens_evaluated: input, tokens_predicted: output }: Chunk): Usage | undefined {
  const reported = chatUsage(usage);
  if (reported || input == null || output == null) return reported;
  return chatUsage({ prompt_tokens: input, completion_tokens: output });
}

function finishIn({ choices, stop, stop_type: type }: Chunk): FinishReason | undefined {
  if (stop === true) return type === 'limit' ? 'length' : 'stop';
  const reason = choices[0]?.finish_reason;
  if (reason == null || reason === '') return undefined;
  if (reason === 'length' || reason === 'max_tokens' || reason === 'model_length') return 'length';
  return reason === 'content_filter' ? 'content-filter' : 'stop';
}
