import { KNOWN_AGENTS, type AgentName } from '../../backend/protocol/known-agents.ts';
import type { ServerProvider } from '../../backend/protocol/providers.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';

/** A model provider or server with its known data. */
export interface WorkerPreset {
  readonly label: string;
  readonly provider: ServerProvider;
  /** Absent if the provider has a fixed address, or the user has to enter it. */
  readonly baseUrl?: string;
  /** Conventional name of its key; absent if the server may need none. */
  readonly key?: string;
  /** An example model name. */
  readonly example: string;
}

/** Addresses from the servers' own documentation, November 2026. Servers on this machine are detected and need no preset. */
const PRESETS: Readonly<Record<ServerProvider, readonly Omit<WorkerPreset, 'provider'>[]>> = {
  'openai': [{ label: 'OpenAI', key: 'OPENAI_API_KEY', example: 'gpt-5' }],
  'anthropic': [{ label: 'Anthropic', key: 'ANTHROPIC_API_KEY', example: 'claude-sonnet-4-5' }],
  'openai-compatible': [
    {
      label: 'Google Gemini', baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai/', key: 'GEMINI_API_KEY', example: 'gemini-2.5-pro',
    },
    { label: 'DeepSeek', baseUrl: 'https://api.deepseek.com', key: 'DEEPSEEK_API_KEY', example: 'deepseek-chat' },
    { label: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', key: 'OPENROUTER_API_KEY', example: 'qwen/qwen3-coder' },
    { label: 'Another server with OpenAI’s API', example: 'model-name' },
  ],
};

/** In the order in which they are offered. */
export const WORKER_PRESETS: readonly WorkerPreset[] = (Object.keys(PRESETS) as ServerProvider[])
  .flatMap((provider) => PRESETS[provider].map((preset) => ({ ...preset, provider })));

/** An unused worker id derived from the model's name, such as `qwen3-8b` for `Qwen/Qwen3:8b`. */
export function suggestId(model: string, taken: readonly string[]): string {
  const words = model.split('/').at(-1)?.toLowerCase().replace(/[^\w.]+/g, '-');
  const name = words?.replace(/^[-.]+|[-.]+$/g, '').slice(0, 60) || 'worker';
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? name : `${name}-${number}`;
    if (!taken.includes(id)) return id;
  }
}

/** A worker of an agent, with the settings of `workerConfigSchema` by default. @param taken ids of other workers */
export function agentWorker(name: AgentName, stepUsd: number, taken: readonly string[]): WorkerConfig {
  const { command, home, hosts, ...agent } = KNOWN_AGENTS[name].agent;
  return {
    id: suggestId(name, taken), provider: 'acp', model: 'default', maxOutputTokens: 8_192, concurrency: 4, firstTokenTimeoutMs: 120_000, idleTimeoutMs: 60_000,
    enabled: true, simulated: false,
    agent: { ...agent, command: [...command], home: [...home], hosts: [...hosts], env: {}, stepTokens: 100_000, minutes: 20, stepUsd },
  };
}
