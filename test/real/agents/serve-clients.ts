import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface ServedPlace {
  /** The endpoint, without `/v1`. */
  readonly url: string;
  readonly key: string;
  readonly home: string;
  readonly project: string;
}

/** An agent that is set up as docs/serve.md says. */
export interface Client {
  /** Its package in npm, or in PyPI. */
  readonly name: string;
  readonly program: string;
  readonly wire: string;
  prepare?(place: ServedPlace): Promise<void>;
  args(question: string): readonly string[];
  env(place: ServedPlace): Readonly<Record<string, string>>;
}

export const CLIENTS: readonly Client[] = [
  {
    name: '@anthropic-ai/claude-code', program: 'claude', wire: 'Messages',
    args: (question) => ['-p', question, '--permission-mode', 'acceptEdits', '--allowedTools', 'Read,Write,Bash'],
    env: ({ url, key }) => ({
      ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key, ANTHROPIC_MODEL: 'claude-conductor', ANTHROPIC_DEFAULT_HAIKU_MODEL: 'claude-sim-birch', CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
    }),
  },
  {
    name: '@openai/codex', program: 'codex', wire: 'Responses',
    prepare: ({ url, home }) => file(home, 'config.toml', [
      'model = "conductor"', 'model_provider = "conductor"', '[model_providers.conductor]', 'name = "Conductor"', `base_url = "${url}/v1"`, 'env_key = "CONDUCTOR_KEY"', '[analytics]', 'enabled = false', '',
    ].join('\n')),
    args: (question) => ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', question],
    env: ({ key, home }) => ({ CODEX_HOME: home, CONDUCTOR_KEY: key }),
  },
  {
    name: 'opencode-ai', program: 'opencode', wire: 'Chat Completions',
    prepare: ({ url, key, project }) => file(project, 'opencode.json', JSON.stringify({
      autoupdate: false, share: 'disabled', model: 'conductor/conductor', small_model: 'conductor/sim-birch', permission: { edit: 'allow', bash: 'allow' },
      provider: { conductor: { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${url}/v1`, apiKey: key }, models: { 'conductor': { tool_call: true }, 'sim-birch': { tool_call: true } } } },
    })),
    args: (question) => ['run', question],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  },
  {
    name: '@qwen-code/qwen-code', program: 'qwen', wire: 'Chat Completions',
    args: (question) => ['--auth-type', 'openai', '--yolo', '--prompt', question],
    env: ({ url, key }) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: 'conductor' }),
  },
  {
    name: '@continuedev/cli', program: 'cn', wire: 'Chat Completions',
    prepare: ({ url, key, home }) => file(home, 'config.yaml', [
      'name: Conductor', 'version: 1.0.0', 'schema: v1', 'models:', '  - name: Conductor', '    provider: openai', '    model: conductor', `    apiBase: ${url}/v1`, `    apiKey: ${key}`, '    capabilities: [tool_use, image_input]', '',
    ].join('\n')),
    args: (question) => ['--config', '../home/config.yaml', '--auto', '--print', question],
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
  },
  {
    name: '@github/copilot', program: 'copilot', wire: 'Chat Completions',
    args: (question) => ['-p', question, '--allow-all-tools'],
    env: ({ url, key }) => ({ COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_PROVIDER_API_KEY: key, COPILOT_MODEL: 'conductor', COPILOT_OFFLINE: 'true' }),
  },
  {
    name: '@mariozechner/pi-coding-agent', program: 'pi', wire: 'Chat Completions',
    prepare: ({ url, key, home }) => file(path.join(home, '.pi/agent'), 'models.json', JSON.stringify({
      providers: { conductor: { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: key, models: [{ id: 'conductor', input: ['text', 'image'] }] } },
    })),
    args: (question) => ['--print', '--provider', 'conductor', '--model', 'conductor', question],
    env: () => ({ PI_OFFLINE: '1' }),
  },
  {
    name: '@kilocode/cli', program: 'kilo', wire: 'Chat Completions',
    prepare: ({ url, key, project }) => file(project, 'kilo.json', JSON.stringify({
      autoupdate: false, share: 'disabled', model: 'conductor/conductor', small_model: 'conductor/sim-birch', permission: { edit: 'allow', bash: 'allow' },
      provider: { conductor: { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${url}/v1`, apiKey: key }, models: { 'conductor': { tool_call: true }, 'sim-birch': { tool_call: true } } } },
    })),
    args: (question) => ['run', question],
    env: () => ({}),
  },
  {
    name: '@charmland/crush', program: 'crush', wire: 'Chat Completions',
    prepare: ({ url, key, project }) => file(project, 'crush.json', JSON.stringify({
      providers: { conductor: { name: 'Conductor', type: 'openai-compat', base_url: `${url}/v1`, api_key: key, models: ['conductor', 'sim-birch'].map((id) => ({ id, name: id, context_window: 200_000, default_max_tokens: 8_192 })) } },
      models: { large: { provider: 'conductor', model: 'conductor' }, small: { provider: 'conductor', model: 'sim-birch' } },
    })),
    args: (question) => ['run', '--quiet', question],
    env: () => ({ CRUSH_DISABLE_PROVIDER_AUTO_UPDATE: '1', CRUSH_DISABLE_METRICS: '1' }),
  },
  {
    name: '@moonshot-ai/kimi-code', program: 'kimi', wire: 'Chat Completions',
    prepare: ({ url, key, home }) => file(path.join(home, '.kimi-code'), 'config.toml', [
      'default_model = "conductor"', '[providers.conductor]', 'type = "openai"', `base_url = "${url}/v1"`, `api_key = "${key}"`,
      '[models.conductor]', 'provider = "conductor"', 'model = "conductor"', 'max_context_size = 200000', 'capabilities = ["image_in"]', '',
    ].join('\n')),
    args: (question) => ['--prompt', question],
    env: () => ({}),
  },
  {
    name: 'droid', program: 'droid', wire: 'Chat Completions',
    prepare: ({ url, key, home }) => file(path.join(home, '.factory'), 'settings.json', JSON.stringify({
      customModels: [{ model: 'conductor', displayName: 'Conductor', baseUrl: `${url}/v1`, apiKey: key, provider: 'generic-chat-completion-api', maxOutputTokens: 8_000 }],
    })),
    args: (question) => ['exec', '--model', 'custom:Conductor-0', '--auto', 'high', question],
    env: () => ({}),
  },
  {
    name: '@nanocollective/nanocoder', program: 'nanocoder', wire: 'Chat Completions',
    prepare: ({ url, key, project }) => file(project, 'agents.config.json', JSON.stringify({ nanocoder: { providers: [{ name: 'conductor', baseUrl: `${url}/v1`, apiKey: key, models: ['conductor'] }] } })),
    args: (question) => ['--provider', 'conductor', '--model', 'conductor', '--mode', 'yolo', 'run', question, '--plain'],
    env: () => ({ NANOCODER_TRUST_DIRECTORY: '1' }),
  },
  {
    name: '@vibe-kit/grok-cli', program: 'grok', wire: 'Chat Completions',
    args: (question) => ['--prompt', question],
    env: ({ url, key }) => ({ GROK_BASE_URL: `${url}/v1`, GROK_API_KEY: key, GROK_MODEL: 'conductor' }),
  },
  {
    name: 'mistral-vibe', program: 'vibe', wire: 'Messages',
    prepare: ({ url, home }) => file(home, 'config.toml', [
      'active_model = "conductor"', 'enable_telemetry = false', 'enable_update_checks = false', '[[providers]]', 'name = "conductor"', `api_base = "${url}"`, 'api_key_env_var = "CONDUCTOR_KEY"', 'api_style = "anthropic"',
      '[[models]]', 'name = "claude-conductor"', 'provider = "conductor"', 'alias = "conductor"', '',
    ].join('\n')),
    args: (question) => ['--trust', '--yolo', '--prompt', question],
    env: ({ key, home }) => ({ VIBE_HOME: home, CONDUCTOR_KEY: key }),
  },
  {
    name: 'fast-agent-mcp', program: 'fast-agent', wire: 'Responses',
    prepare: ({ url, key, project }) => file(project, 'fastagent.config.yaml', ['responses:', `  api_key: ${key}`, `  base_url: ${url}/v1`, ''].join('\n')),
    args: (question) => ['go', '--model', 'responses.conductor', '-x', '--message', question],
    env: () => ({}),
  },
];

async function file(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, name), text);
}
