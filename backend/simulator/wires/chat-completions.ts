import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import * as z from 'zod';
import { openAiError } from './openai-error.ts';
import { textSchema } from './text-parts.ts';
import type { Answer, AnswerStream, WireFormat, WireRequest } from './wire-format.ts';

const requestSchema = z.object({
  model: z.string().min(1),
  messages: z.array(z.object({ role: z.enum(['system', 'developer', 'user', 'assistant']), content: textSchema })).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
  seed: z.number().int().nullish(),
});

/** OpenAI's Chat Completions (https://platform.openai.com/docs/api-reference/chat). */
export const chatCompletions: WireFormat = {
  read(body): WireRequest {
    const request = requestSchema.parse(body);
    return {
      model: request.model,
      messages: request.messages.map(({ role, content }) => ({ role: role === 'developer' ? 'system' : role, content })),
      stream: request.stream ?? false,
      maxOutputTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
      sample: request.seed ?? undefined,
      streamUsage: request.stream_options?.include_usage ?? false,
    };
  },

  reply(answer): ChatCompletion {
    return {
      id: `chatcmpl-${answer.id}`,
      object: 'chat.completion',
      created: secondsOf(answer),
      model: answer.model,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: answer.text, refusal: null },
          finish_reason: answer.finish,
          logprobs: null,
        },
      ],
      usage: usageOf(answer),
    };
  },

  stream(answer): AnswerStream {
    const chunk = (choices: ChatCompletionChunk['choices'], usage?: ChatCompletion['usage']): { data: ChatCompletionChunk } => ({
      data: {
        id: `chatcmpl-${answer.id}`,
        object: 'chat.completion.chunk',
        created: secondsOf(answer),
        model: answer.model,
        choices,
        ...(answer.streamUsage && { usage: usage ?? null }),
      },
    });
    return {
      opening: () => [chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])],
      piece: (content) => [chunk([{ index: 0, delta: { content }, finish_reason: null }])],
      closing: () => [
        chunk([{ index: 0, delta: {}, finish_reason: answer.finish }]),
        ...(answer.streamUsage ? [chunk([], usageOf(answer))] : []),
        { data: '[DONE]' },
      ],
    };
  },

  error: openAiError,
};

function secondsOf({ createdAt }: Answer): number {
  return Math.floor(createdAt.getTime() / 1000);
}

function usageOf({ inputTokens, outputTokens }: Answer): NonNullable<ChatCompletion['usage']> {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
