import type { NamedServer } from '../../backend/protocol/found-servers.ts';

/** A place where models are served, with what is known of it. */
export interface WorkerPreset {
  readonly label: string;
  readonly provider: NamedServer['provider'];
  /** Absent where the provider has one of its own, or the person has to name it. */
  readonly baseUrl?: string;
  /** Conventional name of its key; absent where the server may want none. */
  readonly key?: string;
  /** Name of a model there, as an example. */
  readonly example: string;
}

/** Addresses as the servers' own documentation has them, November 2026. Servers of this machine are found, and need none. */
export const WORKER_PRESETS: readonly WorkerPreset[] = [
  { label: 'OpenAI', provider: 'openai', key: 'OPENAI_API_KEY', example: 'gpt-5' },
  { label: 'Anthropic', provider: 'anthropic', key: 'ANTHROPIC_API_KEY', example: 'claude-sonnet-4-5' },
  {
    label: 'Google Gemini',
    provider: 'openai-compatible',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai/',
    key: 'GEMINI_API_KEY',
    example: 'gemini-2.5-pro',
  },
  {
    label: 'DeepSeek',
    provider: 'openai-compatible',
    baseUrl: 'https://api.deepseek.com',
    key: 'DEEPSEEK_API_KEY',
    example: 'deepseek-chat',
  },
  {
    label: 'OpenRouter',
    provider: 'openai-compatible',
    baseUrl: 'https://openrouter.ai/api/v1',
    key: 'OPENROUTER_API_KEY',
    example: 'qwen/qwen3-coder',
  },
  { label: 'Another server with OpenAI’s API', provider: 'openai-compatible', example: 'model-name' },
];

/** A free worker id after the model's name, such as `qwen3-8b` for `Qwen/Qwen3:8b`. */
export function suggestId(model: string, taken: readonly string[]): string {
  const words = model.split('/').at(-1)?.toLowerCase().replace(/[^\w.]+/g, '-');
  const name = words?.replace(/^[-.]+|[-.]+$/g, '').slice(0, 60) || 'worker';
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? name : `${name}-${number}`;
    if (!taken.includes(id)) return id;
  }
}
