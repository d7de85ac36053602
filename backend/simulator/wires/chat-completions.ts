import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import * as z from 'zod';
import type { SimulatedMessage } from '../simulated-model.ts';
import { openAiError } from './openai-error.ts';
import { dataUrlSchema, saidIn, textSchema } from './text-parts.ts';
import { checkResults, jsonSchemaSchema, offeredTools, toolNameSchema } from './tool-requests.ts';
import type { Answer, AnswerStream, WireFormat, WireRequest } from './wire-format.ts';

const callSchema = z.object({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.object({ name: toolNameSchema, arguments: z.string() }),
});

const userPartSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: dataUrlSchema, detail: z.enum(['auto', 'low', 'high']).optional() }) }),
]);

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer']), content: textSchema }),
  z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(userPartSchema).min(1)]) }),
  z.object({ role: z.literal('assistant'), content: textSchema.nullish(), tool_calls: z.array(callSchema).min(1).optional() })
    .refine(({ content, tool_calls: calls }) => content != null || calls !== undefined, 'an assistant\'s message needs content or tool_calls'),
  z.object({ role: z.literal('tool'), content: textSchema, tool_call_id: z.string().min(1) }),
]);

const toolSchema = z.object({
  type: z.literal('function'),
  function: z.object({ name: toolNameSchema, description: z.string().optional(), parameters: jsonSchemaSchema.optional() }),
});

const requestSchema = z.object({
  model: z.string().min(1),
  messages: z.array(messageSchema).min(1),
  tools: z.array(toolSchema).min(1).nullish(),
  tool_choice: z.unknown().optional(),
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
    const messages = request.messages.map(messageOf);
    checkResults(messages);
    return {
      model: request.model,
      messages,
      ...offeredTools((request.tools ?? []).map((tool) => tool.function), request.tool_choice === 'none'),
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
          message: {
            role: 'assistant',
            content: contentOf(answer, answer.text),
            refusal: null,
            ...(answer.calls.length > 0 && {
              tool_calls: answer.calls.map(({ id, ...called }) => ({ id, type: 'function' as const, function: called })),
            }),
          },
          finish_reason: finishOf(answer),
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
      opening: () => [chunk([{ index: 0, delta: { role: 'assistant', content: contentOf(answer, '') }, finish_reason: null }])],
      piece: (content) => [chunk([{ index: 0, delta: { content }, finish_reason: null }])],
      call: ({ id, name }, index) => {
        const part = (piece: object) => chunk([{ index: 0, delta: { tool_calls: [{ index, ...piece }] }, finish_reason: null }]);
        return {
          opening: () => [part({ id, type: 'function', function: { name, arguments: '' } })],
          piece: (written) => [part({ function: { arguments: written } })],
          closing: () => [],
        };
      },
      closing: () => [
        chunk([{ index: 0, delta: {}, finish_reason: finishOf(answer) }]),
        ...(answer.streamUsage ? [chunk([], usageOf(answer))] : []),
        { data: '[DONE]' },
      ],
    };
  },

  error: openAiError,
};

function messageOf(message: z.infer<typeof messageSchema>): SimulatedMessage {
  if (message.role === 'tool') return { role: 'tool', content: message.content, callId: message.tool_call_id };
  if (message.role === 'user') return saidIn(message.content, (part) => (part.type === 'image_url' ? part.image_url.url : undefined));
  if (message.role !== 'assistant') return { role: 'system', content: message.content };
  const { content, tool_calls: calls } = message;
  return { role: 'assistant', content: content ?? '', ...(calls && { toolCalls: calls.map(({ id, function: called }) => ({ id, ...called })) }) };
}

/** A turn that only calls has no content. */
function contentOf({ text, calls }: Answer, content: string): string | null {
  return text === '' && calls.length > 0 ? null : content;
}

function finishOf({ finish, calls }: Answer): 'stop' | 'length' | 'tool_calls' {
  return finish === 'stop' && calls.length > 0 ? 'tool_calls' : finish;
}

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
