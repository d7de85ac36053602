import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SimulatorServer } from '../../../backend/simulator/server.ts';
import type { HandsRule } from '../../../backend/simulator/worker-model.ts';
import { startGeminiServer } from './gemini-server.ts';

export interface Place {
  /** The simulator. */
  readonly url: string;
  /** The agent's home, which is its own. */
  readonly home: string;
  /** The project that it changes. */
  readonly project: string;
}

/** How an agent is led to a simulated model instead of its provider. */
export interface Agent {
  /** Its package in npm. */
  readonly name: string;
  readonly program: string;
  /** Its name for `conductor install`. */
  readonly setup: string;
  /** Arguments with which it runs the hooks of a project without a person's word. */
  readonly trustsHooks?: readonly string[];
  /** The wire format that it speaks. */
  readonly wire: string;
  prepare?(place: Place): Promise<void>;
  args(question: string): readonly string[];
  env(place: Place): Readonly<Record<string, string>>;
}

export const AGENTS: readonly Agent[] = [
  {
    name: '@anthropic-ai/claude-code',
    program: 'claude',
    setup: 'claude',
    wire: 'Messages',
    args: (question) => ['-p', question, '--model', 'sim-dune', '--permission-mode', 'acceptEdits', '--allowedTools', 'Read,Write,Bash'],
    env: ({ url }) => ({
      ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', ANTHROPIC_SMALL_FAST_MODEL: 'sim-birch', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
  },
  {
    name: '@openai/codex',
    program: 'codex',
    setup: 'codex',
    trustsHooks: ['--trust', '--dangerously-bypass-hook-trust'],
    wire: 'Responses',
    prepare: ({ url, home }) => file(home, 'config.toml', [
      'model = "sim-atlas"', 'model_provider = "sim"', '[model_providers.sim]', 'name = "sim"', `base_url = "${url}/v1"`, 'wire_api = "responses"',
      '[analytics]', 'enabled = false', '',
    ].join('\n')),
    args: (question) => ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', question],
    env: ({ home }) => ({ CODEX_HOME: home }),
  },
  {
    name: 'opencode-ai',
    program: 'opencode',
    setup: 'opencode',
    wire: 'Chat Completions',
    prepare: ({ url, project }) => file(project, 'opencode.json', JSON.stringify({
      autoupdate: false,
      share: 'disabled',
      provider: {
        sim: { npm: '@ai-sdk/openai-compatible', name: 'sim', options: { baseURL: `${url}/v1`, apiKey: 'none' }, models: { 'sim-cedar': { tool_call: true } } },
      },
      small_model: 'sim/sim-cedar',
      permission: { edit: 'allow', bash: 'allow' },
    })),
    args: (question) => ['run', '-m', 'sim/sim-cedar', question],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  },
  {
    name: '@google/gemini-cli',
    program: 'gemini',
    setup: 'gemini',
    wire: 'Gemini',
    prepare: ({ home }) => file(path.join(home, '.gemini'), 'settings.json', JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false },
    })),
    args: (question) => ['--model', 'sim-dune', '--yolo', '--prompt', question],
    env: ({ url }) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'none', GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  },
];

/** A simulated model behind the agent's wire format. */
export async function modelOf({ wire }: Agent, hands: HandsRule): Promise<{ readonly url: string; close(): Promise<void> }> {
  return wire === 'Gemini' ? await startGeminiServer(hands) : await SimulatorServer.start({ seed: 1, latency: 0, hands });
}

async function file(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, name), text);
}
