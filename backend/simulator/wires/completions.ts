import * as z from 'zod';
import { openAiError } from './openai-error.ts';
import type { Answer, AnswerStream, WireFormat, WireRequest } from './wire-format.ts';

const requestSchema = z.object({
  model: z.string().min(1),
  prompt: z.string(),
  suffix: z.string().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  stop: z.array(z.string()).nullish(),
  seed: z.number().int().nullish(),
});

/** OpenAI's old Completions with `suffix`, as Ollama serves them (its docs/openai.md). */
export const completions: WireFormat = {
  read(body): WireRequest {
    const { model, prompt, suffix, stream, stream_options: options, max_tokens: limit, stop, seed } = requestSchema.parse(body);
    return {
      model,
      messages: [{ role: 'user', content: prompt + (suffix ?? '') }],
      gap: { before: prompt, after: suffix ?? '' },
      stop: stop ?? [],
      stream: stream ?? false,
      maxOutputTokens: limit ?? undefined,
      sample: seed ?? undefined,
      streamUsage: options?.include_usage ?? false,
    };
  },

  reply: (answer) => ({ ...headOf(answer), choices: [choiceOf(answer.text, answer.finish)], usage: usageOf(answer) }),

  stream(answer): AnswerStream {
    return {
      opening: () => [],
      piece: (text) => [{ data: { ...headOf(answer), choices: [choiceOf(text, null)] } }],
      call: () => ({ opening: () => [], piece: () => [], closing: () => [] }),
      closing: () => [
        { data: { ...headOf(answer), choices: [choiceOf('', answer.finish)] } },
        ...(answer.streamUsage ? [{ data: { ...headOf(answer), choices: [], usage: usageOf(answer) } }] : []),
        { data: '[DONE]' },
      ],
    };
  },

  error: openAiError,
};

function headOf({ id, model, createdAt }: Answer): object {
  return { id: `cmpl-${id}`, object: 'text_completion', created: Math.floor(createdAt.getTime() / 1_000), model };
}

function choiceOf(text: string, finish: Answer['finish'] | null): object {
  return { index: 0, text, logprobs: null, finish_reason: finish };
}

function usageOf({ inputTokens, outputTokens }: Answer): object {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}
